# SPDX-License-Identifier: BSD-2-Clause
# The recipes for conda and EasyBuild, with this version and the fields of config/owner.cmake, in the folder recipes of the
# build. Spack's reads that file itself.
set(TENON_CONDA_SOURCE "path: ${PROJECT_SOURCE_DIR}")
if(TENON_GIT)
  set(TENON_CONDA_SOURCE "git_url: ${TENON_GIT}\n  git_rev: v${PROJECT_VERSION}")
endif()
set(recipes ${PROJECT_BINARY_DIR}/recipes)
configure_file(${PROJECT_SOURCE_DIR}/share/conda/meta.yaml.in ${recipes}/conda/meta.yaml @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/share/conda/conda_build_config.yaml ${recipes}/conda/conda_build_config.yaml COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/share/easybuild/Tenon-foss-2023b.eb.in
  ${recipes}/easybuild/Tenon-${PROJECT_VERSION}-foss-2023b.eb @ONLY)
