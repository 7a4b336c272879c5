// SPDX-License-Identifier: BSD-2-Clause
#include "tenonMesh.H"
#include "cyclicPolyPatch.H"
#include "globalIndex.H"
#include "labelIOList.H"
#include "processorPolyPatch.H"
#include "syncTools.H"
#include "volFields.H"

namespace Foam
{

defineTypeNameAndDebug(tenonMesh, 0);

namespace
{

// What decomposePar has written beside the mesh; empty where it has not.
labelList addressing(const fvMesh& mesh, const word& name)
{
    return labelIOList
    (
        IOobject
        (
            name,
            mesh.facesInstance(),
            polyMesh::meshSubDir,
            mesh,
            IOobject::READ_IF_PRESENT,
            IOobject::NO_WRITE,
            false
        )
    );
}

// Numbers of cells and faces; returns whether they are those of the undivided
// mesh.
bool number(const fvMesh& mesh, labelList& cells, labelList& faces)
{
    cells = identity(mesh.nCells());
    faces = identity(mesh.nFaces());
    if (!Pstream::parRun())
    {
        return true;
    }
    const labelList undividedCells(addressing(mesh, "cellProcAddressing"));
    const labelList undividedFaces(addressing(mesh, "faceProcAddressing"));
    const bool known = returnReduce
    (
        undividedCells.size() == cells.size()
     && undividedFaces.size() == faces.size(),
        andOp<bool>()
    );
    const globalIndex cellNumber(cells.size()), faceNumber(faces.size());
    forAll(cells, i)
    {
        cells[i] = known ? undividedCells[i] : cellNumber.toGlobal(i);
    }
    forAll(faces, i)
    {
        // The sign tells whether the face was turned.
        faces[i] = known ? mag(undividedFaces[i]) - 1 : faceNumber.toGlobal(i);
    }
    return known;
}

// Of a patch cyclicAMI the polyPatch is not coupled(), but the fvPatch is.
void checkCoupled(const fvMesh& mesh)
{
    for (const fvPatch& patch : mesh.boundary())
    {
        const polyPatch& faces = patch.patch();
        if
        (
            patch.coupled()
         && !isA<processorPolyPatch>(faces) && !isA<cyclicPolyPatch>(faces)
        )
        {
            FatalErrorInFunction
                << "patch " << patch.name() << " is of type " << patch.type()
                << ", whose faces have several weighted neighbours; tenonMesh"
                << " has a neighbour for each face. Use a conformal patch of"
                << " type cyclic, or patches that are not coupled"
                << exit(FatalError);
        }
    }
}

label madeBefore = 0;

}

tenonMesh::tenonMesh(const fvMesh& mesh)
:
    MeshObject<fvMesh, MoveableMeshObject, tenonMesh>(mesh),
    version_(++madeBefore)
{
    tenonCalls(FUNCTION_NAME, [&] { setLists(); setFeatures(); });
    if (!persistent_)
    {
        Info<< "tenonMesh: the mesh has no cellProcAddressing; ids of cells"
            << " are valid for this decomposition only" << endl;
    }
}

MPI_Comm tenonMesh::comm()
{
    return Pstream::parRun() ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

void tenonMesh::setLists()
{
    checkCoupled(mesh_);
    labelList cell, face, behind;
    persistent_ = number(mesh_, cell, face);
    syncTools::swapBoundaryCellList(mesh_, cell, behind);
    ids_.assign(cell.begin(), cell.end());

    std::vector<TenonInt> target, source, key;
    const auto add = [&](const label t, const label s, const label f)
    {
        target.push_back(t);
        source.push_back(s);
        key.push_back(2*TenonInt(face[f]) + (ids_[t] > ids_[s] ? 1 : 0));
    };
    for (label f = 0; f < mesh_.nInternalFaces(); ++f)
    {
        const label owner = mesh_.faceOwner()[f], other = mesh_.faceNeighbour()[f];
        add(owner, other, f);
        add(other, owner, f);
    }
    for (const polyPatch& patch : mesh_.boundaryMesh())
    {
        if (!patch.coupled())
        {
            continue;
        }
        forAll(patch, i)
        {
            const label f = patch.start() + i;
            ids_.push_back(behind[f - mesh_.nInternalFaces()]);
            add(patch.faceCells()[i], label(ids_.size()) - 1, f);
        }
    }
    cells_ = tenon::IndexMap::fromIds(comm(), mesh_.nCells(), ids_);
    edges_ = tenon::Edges(cells_, cells_, target, source, key);
    features_ = tenon::DTensor(edges_.layout({0, 4}), TENON_FLOAT64);
}

void tenonMesh::setFeatures()
{
    const auto rows = features_.array<double>();
    double* row = rows.begin();
    const scalarField size(cbrt(mesh_.V().field()));
    const auto add = [&](const vector& d, const label target)
    {
        for (direction i = 0; i < vector::nComponents; ++i)
        {
            *row++ = d[i]/size[target];
        }
        *row++ = mag(d)/size[target];
    };
    const vectorField& centre = mesh_.C().primitiveField();
    for (label f = 0; f < mesh_.nInternalFaces(); ++f)
    {
        const label owner = mesh_.faceOwner()[f], other = mesh_.faceNeighbour()[f];
        const vector d(centre[other] - centre[owner]);
        add(d, owner);
        add(-d, other);
    }
    for (const fvPatch& patch : mesh_.boundary())
    {
        if (patch.coupled())
        {
            const vectorField d(patch.delta());
            forAll(d, i)
            {
                add(d[i], patch.faceCells()[i]);
            }
        }
    }
}

bool tenonMesh::movePoints()
{
    tenonCalls(FUNCTION_NAME, [&] { setFeatures(); });
    return true;
}

}
