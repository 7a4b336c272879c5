#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_recipes.py ROOT RECIPES VERSION
Checks the recipes for Spack (in share/spack), conda and EasyBuild (which CMake has written into the folder RECIPES): they are
well formed; each TENON_ option that they set is an option of CMake; they list all packages that the build requires; and their
version and addresses are those of the project and of config/owner.cmake."""
import ast
import re
import sys
from pathlib import Path

# What CMakeLists.txt finds, and the package that provides it for Spack, for conda and for EasyBuild.
PROVIDED = {'MPI': ('mpi', 'openmpi', 'foss'), 'fmt': ('fmt', 'fmt', 'fmt'), 'CBLAS': ('blas', 'libcblas', 'foss'),
            'nlohmann_json': ('nlohmann-json', 'nlohmann_json', 'nlohmann_json'), 'ZLIB': ('zlib-api', 'zlib', 'zlib'),
            'hwloc': ('hwloc', 'libhwloc', 'hwloc')}
VARIANTS = {'cuda', 'shared', 'fortran', 'petsc', 'hdf5', 'netcdf', 'onednn', 'fftw'}
faults = []


def expect(true, text):
    if not true:
        faults.append(text)


def check_packages(required, packages, which, recipe):
    for found in required:
        expect(PROVIDED[found][which] in packages, f'nothing that the recipe for {recipe} needs provides {found}')


def first_arguments(tree, function):
    return [call.args[0].value for call in ast.walk(tree)
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
            and getattr(call.func, 'id', getattr(call.func, 'attr', '')) == function]


def check_spack(text, required):
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    expect([node.name for node in classes] == ['Tenon'], 'the recipe for Spack must have one class, Tenon')
    bases = {base.id for node in classes for base in node.bases}
    variants = set(first_arguments(tree, 'variant')) | ({'cuda'} if 'CudaPackage' in bases else set())
    expect(VARIANTS <= variants, f'the recipe for Spack has no variants {sorted(VARIANTS - variants)}')
    for variant in variants:
        expect(f'"{variant}")' in text or f'~{variant}' in text, f'the variant {variant} has no effect')
    packages = {re.match(r'[\w-]+', name).group() for name in first_arguments(tree, 'depends_on')}
    check_packages(required, packages, 0, 'Spack')
    expect('googletest' in packages, 'the recipe for Spack does not need googletest for the tests')
    tests = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')]
    expect(tests, 'the recipe for Spack has no test of what is installed')


def check_easybuild(text, required, version, owner):
    values = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            try:
                values[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:  # names EasyBuild's constants
                values[node.targets[0].id] = None
    for name in ('easyblock', 'name', 'version', 'homepage', 'description', 'toolchain', 'sources', 'dependencies',
                 'sanity_check_paths', 'moduleclass'):
        expect(name in values, f'the recipe for EasyBuild has no {name}')
    expect(values['version'] == version, f'the recipe for EasyBuild is of version {values["version"]}')
    expect(values['homepage'] == owner['TENON_URL'], 'the recipe for EasyBuild has another home page than config/owner.cmake')
    packages = {package[0] for package in values['dependencies']} | {values['toolchain']['name']}
    check_packages(required, packages, 2, 'EasyBuild')


def parse_yaml(text):
    """The part of YAML that the recipe uses, as {path of keys: values}: mappings by indentation, and lists of texts."""
    found, path = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r'(^|\s)#.*', '', line).rstrip()
        if not line:
            continue
        match = re.fullmatch(r'((?:  )*)(?:- (\S.*)|([\w_]+):(?: (\S.*))?)', line)
        expect(match and '\t' not in line, f'line {number} of the recipe for conda is no key and no item: {line}')
        if not match:
            continue
        depth, item, key, value = len(match[1]) // 2, match[2], match[3], match[4]
        expect(depth <= len(path), f'line {number} of the recipe for conda is indented too far')
        path = path[:depth]
        if key:
            path.append(key)
        texts = found.setdefault('/'.join(path), [])
        texts += [text.strip('"') for text in (item, value) if text]
    return found


def check_conda_variants(text, variants, required, version, owner):
    """Checks the recipe of each MPI, whose packages conda-forge names by it."""
    kinds = parse_yaml(variants).get('mpi', [])
    expect({'openmpi', 'mpich'} <= set(kinds), f'the variants of the recipe for conda are {kinds}')
    for kind in kinds:
        filled = text.replace('{{ mpi }}', kind)
        unknown = re.findall(r'\{\{ (?!compiler\(|PKG_)[^}]*\}\}', filled)
        expect(not unknown, f'the recipe for conda has {unknown}, for which there are no variants')
        own = parse_yaml(filled)
        build = own.get('build/string', [''])[0]
        expect(kind in build, f'the build of conda with {kind} has the name {build}, which does not tell its MPI')
        for part in ('host', 'run'):
            expect(kind in own.get(f'requirements/{part}', []), f'the recipe for conda needs no {kind} among its packages of {part}')
        others = [each for each in own.get('requirements/host', []) if 'mpi_' in each and f' mpi_{kind}_' not in each]
        expect(not others, f'the recipe for conda with {kind} takes {others}, which are of another MPI')
    check_conda(text.replace('{{ mpi }}', 'openmpi'), required, version, owner)


def check_conda(text, required, version, owner):
    found = parse_yaml(text)
    for path in ('package/name', 'package/version', 'source', 'build/script', 'requirements/build', 'requirements/host',
                 'requirements/run', 'test/commands', 'about/home', 'about/license', 'about/summary'):
        expect(path in found, f'the recipe for conda has no {path}')
    expect(found.get('package/version') == [version], f'the recipe for conda is of version {found.get("package/version")}')
    home = [owner['TENON_URL']] if owner['TENON_URL'] else []
    expect(found.get('about/home') == home, 'the recipe for conda has another home page than config/owner.cmake')
    source = found.get('source/git_url', found.get('source/path'))
    expect(source and source[0] in (owner['TENON_GIT'], sys.argv[1]), f'the recipe for conda takes the sources from {source}')
    packages = {package.split()[0] for package in found.get('requirements/host', [])}
    check_packages(required, packages, 1, 'conda')


def main():
    root, recipes, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    lists = (root / 'CMakeLists.txt').read_text()
    cmake = lists + ''.join(path.read_text() for path in sorted((root / 'config/cmake').glob('*.cmake')))
    options = set(re.findall(r'^\s*(?:option|set)\((TENON_\w+)', cmake, re.MULTILINE))
    required = [found for found in re.findall(r'^find_package\((\w+)', lists, re.MULTILINE) if found != 'OpenMP']
    owner = dict(re.findall(r'^set\((TENON_\w+) "([^"]*)"\)', (root / 'config/owner.cmake').read_text(), re.MULTILINE))
    expect(set(owner) == {'TENON_URL', 'TENON_GIT', 'TENON_CONTACT'}, f'config/owner.cmake has the fields {sorted(owner)}')
    spack = (root / 'share/spack/packages/tenon/package.py').read_text()
    conda = (recipes / 'conda/meta.yaml').read_text()
    easybuild = (recipes / f'easybuild/Tenon-{version}-foss-2023b.eb').read_text()
    for recipe, text, pattern in (('Spack', spack, r'define\w*\("(TENON_\w+)"'), ('conda', conda, r'-D(TENON_\w+)'),
                                  ('EasyBuild', easybuild, r'-D(TENON_\w+)')):
        names = re.findall(pattern, text)
        expect(names, f'the recipe for {recipe} sets no option')
        for option in names:
            expect(option in options, f'{option}, which the recipe for {recipe} sets, is no option of CMake')
        expect('@TENON' not in text and '@PROJECT' not in text, f'CMake left a field of the recipe for {recipe} open')
    check_spack(spack, required)
    check_conda_variants(conda, (recipes / 'conda/conda_build_config.yaml').read_text(), required, version, owner)
    check_easybuild(easybuild, required, version, owner)
    for fault in faults:
        print('fault:', fault)
    sys.exit(1 if faults else 0)


main()
