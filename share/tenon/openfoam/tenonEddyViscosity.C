// SPDX-License-Identifier: BSD-2-Clause
#include "tenonEddyViscosity.H"
#include "addToRunTimeSelectionTable.H"
#include "fvOptions.H"
#include "fvcGrad.H"
#include "turbulentTransportModels.H"

namespace Foam
{
namespace LESModels
{

template<class BasicTurbulenceModel>
tenonEddyViscosity<BasicTurbulenceModel>::tenonEddyViscosity
(
    const alphaField& alpha,
    const rhoField& rho,
    const volVectorField& U,
    const surfaceScalarField& alphaRhoPhi,
    const surfaceScalarField& phi,
    const transportModel& transport,
    const word& propertiesName,
    const word& type
)
:
    LESeddyViscosity<BasicTurbulenceModel>
    (
        type,
        alpha,
        rho,
        U,
        alphaRhoPhi,
        phi,
        transport,
        propertiesName
    ),
    Ck_
    (
        dimensioned<scalar>::lookupOrAddToDict("Ck", this->coeffDict_, 0.094)
    )
{
    if (type == typeName)
    {
        this->printCoeffs(type);
    }
    closure_.reset(new tenonClosure(this->mesh_, this->coeffDict_));
    closure_->readNetwork
    (
        this->coeffDict_.template get<fileName>("checkpoint").expand()
    );
}

template<class BasicTurbulenceModel>
void tenonEddyViscosity<BasicTurbulenceModel>::correctNut()
{
    const volTensorField gradU(fvc::grad(this->U_));
    closure_->predict(gradU.primitiveField(), this->nut_.primitiveFieldRef());
    this->nut_.correctBoundaryConditions();
    fv::options::New(this->mesh_).correct(this->nut_);
    BasicTurbulenceModel::correctNut();
}

template<class BasicTurbulenceModel>
tmp<volScalarField> tenonEddyViscosity<BasicTurbulenceModel>::k() const
{
    return sqr(this->nut_/(Ck_*this->delta()));
}

template<class BasicTurbulenceModel>
tmp<volScalarField> tenonEddyViscosity<BasicTurbulenceModel>::epsilon() const
{
    const volScalarField k(this->k());
    return this->Ce_*k*sqrt(k)/this->delta();
}

template<class BasicTurbulenceModel>
void tenonEddyViscosity<BasicTurbulenceModel>::correct()
{
    LESeddyViscosity<BasicTurbulenceModel>::correct();
    correctNut();
}

}
}

makeLESModel(tenonEddyViscosity);
