// SPDX-License-Identifier: BSD-2-Clause
#include "meshCheck.H"
#include "OFstream.H"
#include "addToRunTimeSelectionTable.H"
#include "syncTools.H"
#include "volFields.H"
#include <cstdint>
#include <cstring>

namespace Foam
{
namespace functionObjects
{

defineTypeNameAndDebug(meshCheck, 0);
addToRunTimeSelectionTable(functionObject, meshCheck, dictionary);

namespace
{

// A number in [-1, 1) for each key.
scalar draw(std::uint64_t key)
{
    key *= 0x9E3779B97F4A7C15ull;
    key ^= key >> 29;
    key *= 0xBF58476D1CE4E5B9ull;
    key ^= key >> 32;
    return scalar(key >> 11)/4503599627370496.0 - 1;
}

std::uint64_t bits(const scalar value)
{
    std::uint64_t result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

}

meshCheck::meshCheck(const word& name, const Time& runTime, const dictionary& dict)
:
    fvMeshFunctionObject(name, runTime, dict),
    dict_(dict),
    done_(false)
{}

void meshCheck::ghosts() const
{
    const tenonMesh& lists = tenonMesh::New(mesh_);
    const vectorField& U = lookupObject<volVectorField>("U").primitiveField();
    const label count = label(lists.ids().size());
    vectorField all(count);
    forAll(U, c)
    {
        all[c] = U[c];
    }
    const auto layouts = lists.cells().layouts({0, vector::nComponents});
    tenon::LinearOp fill = tenon::LinearOp::indexMap(lists.cells(), layouts.domain, TENON_FLOAT64);
    tenon::DTensor x(layouts.domain, TENON_FLOAT64), y(layouts.range, TENON_FLOAT64);
    {
        const auto own = x.place(U);
        const auto withGhosts = y.place(all, {{}, {}, {count - U.size(), 0}});
        fill.apply(x, y);
    }
    vectorField behind;
    syncTools::swapBoundaryCellList(mesh_, U, behind);
    label ghost = U.size(), wrong = 0;
    for (const polyPatch& patch : mesh_.boundaryMesh())
    {
        for (label i = 0; patch.coupled() && i < patch.size(); ++i)
        {
            const vector& expected = behind[patch.start() - mesh_.nInternalFaces() + i];
            for (direction d = 0; d < vector::nComponents; ++d)
            {
                wrong += bits(all[ghost][d]) != bits(expected[d]);
            }
            ++ghost;
        }
    }
    Info<< "meshCheck: " << returnReduce(ghost - U.size(), sumOp<label>())
        << " ghosts, wrong components " << returnReduce(wrong, sumOp<label>()) << endl;
}

void meshCheck::messages() const
{
    const tenonMesh& lists = tenonMesh::New(mesh_);
    const tenon::Layout rows = lists.cells().layouts({0, vector::nComponents}).domain;
    const tenon::Layer edge = tenon::Layer::columnMLP(lists.comm(), {6, 8, 4}, "tanh");
    const tenon::Layer cell = tenon::Layer::columnMLP(lists.comm(), {7, 8, 1}, "tanh");
    tenon::Layer step = edge.messagePassing(cell, 1, "sum");
    step.set("data_type", "float64").setEdges("", lists.edges()).setUp(rows);
    step.initialize(3);

    vectorField input(mesh_.nCells());
    scalarField output(mesh_.nCells());
    forAll(input, c)
    {
        for (direction d = 0; d < vector::nComponents; ++d)
        {
            input[c][d] = draw(4*std::uint64_t(lists.ids()[c]) + d + 1);
        }
    }
    tenon::DTensor x(rows, TENON_FLOAT64), y = step.createOutput();
    const auto in = x.place(input);
    const auto out = y.place(output);
    step.apply(x, y);

    const fileName path(dict_.get<fileName>("output").expand()/Foam::name(Pstream::myProcNo()));
    OFstream file(path);
    forAll(output, c)
    {
        file.stdStream() << lists.ids()[c] << ' ' << std::hex << bits(output[c]) << std::dec << '\n';
    }
}

void meshCheck::centres() const
{
    const tenonMesh& lists = tenonMesh::New(mesh_);
    vectorField centre(mesh_.C().primitiveField());
    const tenon::IndexMap sorted = lists.cells().sorted();
    const auto layouts = sorted.layouts({0, vector::nComponents});
    tenon::LinearOp sort = tenon::LinearOp::indexMap(sorted, layouts.domain, TENON_FLOAT64);
    tenon::DTensor x(layouts.domain, TENON_FLOAT64), back(layouts.domain.dual(), TENON_FLOAT64);
    tenon::DTensor byId(layouts.range, TENON_FLOAT64);
    tenon::Checkpoint file(lists.comm());
    file.addTensor(byId, "centres");
    if (dict_.found("save"))
    {
        const auto placed = x.place(centre);
        sort.apply(x, byId);
        file.write(dict_.get<fileName>("save").expand());
    }
    if (dict_.found("load"))
    {
        file.read(dict_.get<fileName>("load").expand());
        vectorField read(centre.size());
        const auto placed = back.place(read);
        sort.applyAdjoint(byId, back);
        const scalar difference = gMax(mag(read - centre)());
        Info<< "meshCheck: centres are those of the checkpoint: "
            << (difference < 1e-14 ? "yes" : "no") << endl;
    }
}

void meshCheck::geometry() const
{
    const auto rows = tenonMesh::New(mesh_).features().read<double>();
    const vectorField& centre = mesh_.C().primitiveField();
    const label owner = mesh_.faceOwner()[0], other = mesh_.faceNeighbour()[0];
    const vector d((centre[other] - centre[owner])/cbrt(mesh_.V()[owner]));
    const scalar difference = mag(d - vector(rows[0], rows[1], rows[2])) + mag(mag(d) - rows[3]);
    Info<< "meshCheck: the geometry is that of the mesh: "
        << (returnReduce(difference, maxOp<scalar>()) < 1e-14 ? "yes" : "no") << endl;
}

bool meshCheck::execute()
{
    tenonCalls(FUNCTION_NAME, [&] { geometry(); });
    if (!done_)
    {
        tenonCalls(FUNCTION_NAME, [&] { ghosts(); messages(); centres(); });
        done_ = true;
    }
    return true;
}

}
}
