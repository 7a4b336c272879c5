// SPDX-License-Identifier: BSD-2-Clause
#include "tenonTraining.H"
#include "addToRunTimeSelectionTable.H"
#include "fvcGrad.H"

namespace Foam
{
namespace functionObjects
{

defineTypeNameAndDebug(tenonTraining, 0);
addToRunTimeSelectionTable(functionObject, tenonTraining, dictionary);

tenonTraining::tenonTraining(const word& name, const Time& runTime, const dictionary& dict)
:
    fvMeshFunctionObject(name, runTime, dict),
    UName_(dict.lookupOrDefault<word>("U", "U")),
    targetName_(dict.get<word>("target")),
    steps_(dict.lookupOrDefault<label>("steps", 1)),
    checkpoint_(dict.get<fileName>("checkpoint").expand()),
    closure_(new tenonClosure(mesh_, dict)),
    nut_
    (
        IOobject
        (
            "nutTenon",
            runTime.timeName(),
            mesh_,
            IOobject::READ_IF_PRESENT,
            IOobject::NO_WRITE
        ),
        mesh_,
        dimensionedScalar(dimViscosity, Zero),
        "zeroGradient"
    )
{
    if (dict.lookupOrDefault<Switch>("restart", false))
    {
        restart();
    }
}

void tenonTraining::restart()
{
    const bool hasFile = nut_.headerOk();
    const scalarField ofFile(nut_.primitiveField());
    closure_->read(checkpoint_, nut_.primitiveFieldRef());
    nut_.correctBoundaryConditions();
    Info<< type() << ' ' << name() << ": read " << checkpoint_;
    if (hasFile)
    {
        Info<< "; nutTenon differs from that of time "
            << time_.timeName() << " by at most "
            << gMax(mag(ofFile - nut_.primitiveField())());
    }
    Info<< endl;
}

bool tenonTraining::execute()
{
    const volTensorField gradU(fvc::grad(lookupObject<volVectorField>(UName_)));
    const volScalarField& target = lookupObject<volScalarField>(targetName_);
    scalar loss = 0;
    for (label i = 0; i < steps_; ++i)
    {
        loss = closure_->train(gradU.primitiveField(), target.primitiveField());
    }
    closure_->predict(gradU.primitiveField(), nut_.primitiveFieldRef());
    nut_.correctBoundaryConditions();
    OStringStream digits;
    digits.precision(15);
    digits << loss;
    Info<< type() << ' ' << name() << ": loss " << digits.str().c_str()
        << ", largest nutTenon " << gMax(nut_.primitiveField()) << endl;
    return true;
}

bool tenonTraining::write()
{
    closure_->write(checkpoint_, nut_.primitiveField());
    return nut_.write();
}

bool tenonTraining::end()
{
    // Before the mesh, whose lists the network has.
    closure_.clear();
    return true;
}

}
}
