// SPDX-License-Identifier: BSD-2-Clause
// Made by src/interfaces/cxx/generate.py from the public headers. Do not edit.
// The address of each member, so that the compiler has to find it and to call the function of C.
// clang-format off
#include <tenon.hpp>

namespace tenon {
namespace every {

Trainer shareTrainer(const Trainer& x) { return x.share(); }
Partition sharePartition(const Partition& x) { return x.share(); }
Layout shareLayout(const Layout& x) { return x.share(); }
DTensor shareDTensor(const DTensor& x) { return x.share(); }
LinearOp shareLinearOp(const LinearOp& x) { return x.share(); }
Layer shareLayer(const Layer& x) { return x.share(); }
Machine shareMachine(const Machine& x) { return x.share(); }
Optimizer shareOptimizer(const Optimizer& x) { return x.share(); }
Dataset shareDataset(const Dataset& x) { return x.share(); }
Checkpoint shareCheckpoint(const Checkpoint& x) { return x.share(); }
FieldSeries shareFieldSeries(const FieldSeries& x) { return x.share(); }
PlacementList sharePlacementList(const PlacementList& x) { return x.share(); }
ReductionPrograms shareReductionPrograms(const ReductionPrograms& x) { return x.share(); }
Plan sharePlan(const Plan& x) { return x.share(); }
// TenonCheckpointCreate
Checkpoint m0(MPI_Comm comm, const Where& where) {
  return Checkpoint(comm, where);
}
// TenonCheckpointAddLayer
Checkpoint& (Checkpoint::* m1)(const Layer&, Text, const Where&) = &Checkpoint::addLayer;
// TenonCheckpointAddOptimizer
Checkpoint& (Checkpoint::* m2)(const Optimizer&, Text, const Where&) = &Checkpoint::addOptimizer;
// TenonCheckpointAddTensor
Checkpoint& (Checkpoint::* m3)(const DTensor&, Text, const Where&) = &Checkpoint::addTensor;
// TenonCheckpointSetInt
Checkpoint& (Checkpoint::* m4)(Text, TenonInt, const Where&) = &Checkpoint::setInt;
// TenonCheckpointSetReal
Checkpoint& (Checkpoint::* m5)(Text, double, const Where&) = &Checkpoint::setReal;
// TenonCheckpointSetString
Checkpoint& (Checkpoint::* m6)(Text, Text, const Where&) = &Checkpoint::setString;
// TenonCheckpointGetInt
TenonInt (Checkpoint::* m7)(Text, const Where&) const = &Checkpoint::getInt;
// TenonCheckpointGetReal
double (Checkpoint::* m8)(Text, const Where&) const = &Checkpoint::getReal;
// TenonCheckpointGetString
std::string (Checkpoint::* m9)(Text, const Where&) const = &Checkpoint::getString;
// TenonCheckpointWrite
void (Checkpoint::* m10)(Text, const Where&) = &Checkpoint::write;
// TenonCheckpointWriteStep
void (Checkpoint::* m11)(Text, TenonInt, const Where&) = &Checkpoint::writeStep;
// TenonCheckpointRead
void (Checkpoint::* m12)(Text, const Where&) = &Checkpoint::read;
// TenonCheckpointReadLatest
TenonInt (Checkpoint::* m13)(Text, const Where&) = &Checkpoint::readLatest;
// TenonCheckpointOnSignal
void (Checkpoint::* m14)(int, const Where&) = &Checkpoint::onSignal;
// TenonCheckpointGetSignal
int (Checkpoint::* m15)(const Where&) const = &Checkpoint::signal;
// TenonCheckpointViewFile
void (* m16)(Text, const Where&) = &Checkpoint::viewFile;
// TenonDatasetCreateIDX
Dataset m17(MPI_Comm comm, Text images, Text labels, const Where& where) {
  return Dataset(comm, images, labels, where);
}
// TenonDatasetCreateHDF5
Dataset (* m18)(MPI_Comm, Text, Text, Text, const Where&) = &Dataset::hdf5;
// TenonDatasetGetShape
std::vector<TenonInt> (Dataset::* m19)(const Where&) const = &Dataset::shape;
// TenonDatasetSetUp
void (Dataset::* m20)(const Layout&, const Layout&, const Where&) = &Dataset::setUp;
void (Dataset::* m20Short)(const Layout&, const Where&) = &Dataset::setUp;
// TenonDatasetGetBatchCount
TenonInt (Dataset::* m21)(const Where&) const = &Dataset::batches;
// TenonDatasetGetBatch
void (Dataset::* m22)(TenonInt, TenonInt, DTensor&, DTensor&, const Where&) const = &Dataset::batch;
void (Dataset::* m22Short)(TenonInt, TenonInt, DTensor&, const Where&) const = &Dataset::batch;
// TenonDTensorCreate
DTensor m23(const Layout& layout, TenonDataType type, const Where& where) {
  return DTensor(layout, type, where);
}
// TenonDTensorSetSpace
DTensor& (DTensor::* m24)(TenonMemorySpace, const Where&) = &DTensor::setSpace;
// TenonDTensorGetSpace
TenonMemorySpace (DTensor::* m25)(const Where&) const = &DTensor::space;
// TenonDTensorGatherArrays
void (DTensor::* m26)(const Where&) = &DTensor::gatherArrays;
// TenonDTensorScatterArrays
void (DTensor::* m27)(const Where&) = &DTensor::scatterArrays;
// TenonDTensorSetPrivate
DTensor& (DTensor::* m28)(bool, const Where&) = &DTensor::setPrivate;
// TenonDTensorGetStrides
std::vector<TenonInt> (DTensor::* m29)(const Where&) const = &DTensor::strides;
// TenonDTensorGetLayout
Layout (DTensor::* m30)(const Where&) const = &DTensor::layout;
// TenonDTensorGetDataType
TenonDataType (DTensor::* m31)(const Where&) const = &DTensor::dataType;
// TenonDTensorGetBox
Box (DTensor::* m32)(const Where&) const = &DTensor::box;
// TenonDTensorGetLocalSize
TenonInt (DTensor::* m33)(const Where&) const = &DTensor::localSize;
// TenonDTensorCopy
void (DTensor::* m34)(const DTensor&, const Where&) = &DTensor::copy;
// TenonDTensorAXPBY
void (DTensor::* m35)(double, const DTensor&, double, const Where&) = &DTensor::axpby;
// TenonDTensorScale
void (DTensor::* m36)(double, const Where&) = &DTensor::scale;
// TenonDTensorFillConstant
void (DTensor::* m37)(double, const Where&) = &DTensor::fill;
// TenonDTensorFillUniform
void (DTensor::* m38)(TenonInt, TenonInt, double, double, const Where&) = &DTensor::fillUniform;
// TenonDTensorFillNormal
void (DTensor::* m39)(TenonInt, TenonInt, double, double, const Where&) = &DTensor::fillNormal;
// TenonDTensorFillTest
void (DTensor::* m40)(TenonInt, bool, const Where&) = &DTensor::fillTest;
// TenonDTensorNorm
double (DTensor::* m41)(const Where&) const = &DTensor::norm;
// TenonDTensorPairing
double (DTensor::* m42)(const DTensor&, const Where&) const = &DTensor::pairing;
// TenonDTensorMaxAbs
double (DTensor::* m43)(const Where&) const = &DTensor::maxAbs;
// TenonErrorString
std::string (* m44)(TenonErrorCode) = &tenon::errorString;
// TenonErrorName
std::string (* m45)(TenonErrorCode) = &tenon::errorName;
// TenonGetLastError
LastError (* m46)(const Where&) = &tenon::lastError;
// TenonGetLastErrorReport
std::string (* m47)(const Where&) = &tenon::lastErrorReport;
// TenonPushErrorHandler
void (* m48)(TenonErrorHandler, void*, const Where&) = &tenon::pushErrorHandler;
// TenonPopErrorHandler
void (* m49)(const Where&) = &tenon::popErrorHandler;
// TenonSetFatalErrorHandler
void (* m50)(TenonErrorHandler, void*, const Where&) = &tenon::setFatalErrorHandler;
// TenonAbort
void (* m51)(TenonErrorCode) = &tenon::abort;
// TenonLayerCreateShell
Layer (* m52)(MPI_Comm, const Where&) = &Layer::shell;
// TenonLayerShellSetFunctions
Layer& (Layer::* m53)(const TenonLayerShellFunctions&, const Where&) = &Layer::shellSetFunctions;
// TenonLayerShellSetContext
Layer& (Layer::* m54)(void*, TenonLayerShellDestroyer, const Where&) = &Layer::shellSetContext;
// TenonLayerShellGetContext
void* (Layer::* m55)(const Where&) const = &Layer::shellContext;
// TenonLayerShellSetLabels
Layer& (Layer::* m56)(Text, const Where&) = &Layer::shellSetLabels;
// TenonLayerShellSetSaved
Layer& (Layer::* m57)(bool, bool, const Where&) = &Layer::shellSetSaved;
// TenonLayerShellAddParameter
Layer& (Layer::* m58)(Text, Ints, TenonInt, TenonInt, const Where&) = &Layer::shellAddParameter;
// TenonLayerShellAddState
Layer& (Layer::* m59)(Text, Ints, double, const Where&) = &Layer::shellAddState;
// TenonLayerShellSetWorkspace
Layer& (Layer::* m60)(TenonInt, const Where&) = &Layer::shellSetWorkspace;
// TenonLayerShellGetValue
Borrowed<DTensor> (Layer::* m61)(int, const Where&) const = &Layer::shellValue;
// TenonLayerShellGetTangent
Borrowed<DTensor> (Layer::* m62)(int, const Where&) const = &Layer::shellTangent;
// TenonLayerShellGetGradient
Borrowed<DTensor> (Layer::* m63)(int, const Where&) const = &Layer::shellGradient;
// TenonLayerShellGetState
Borrowed<DTensor> (Layer::* m64)(int, const Where&) const = &Layer::shellState;
// TenonLayerShellGetWorkspace
void* (Layer::* m65)(const Where&) const = &Layer::shellWorkspace;
// TenonLayerRegister
void (* m66)(Text, TenonLayerCreator, const Where&) = &Layer::registerType;
// TenonLinearOpRegister
void (* m67)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonFieldSeriesCreate
FieldSeries m68(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m69)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m70)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m71)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonInitialized
bool (* m72)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m73)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m74)(const Where&) = &tenon::version;
// TenonGetVersionString
std::string (* m75)(const Where&) = &tenon::versionString;
// TenonGetBuildInfo
std::string (* m76)(const Where&) = &tenon::buildInfo;
// TenonGetDeviceInfo
std::string (* m77)(const Where&) = &tenon::deviceInfo;
// TenonGetPerformanceAdvice
std::string (* m78)(const Where&) = &tenon::performanceAdvice;
// TenonLayerSetUp
void (Layer::* m79)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m80)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m81)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m82)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m83)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m84)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m85)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m86)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m87)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m88)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m89)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerSetTraining
Layer& (Layer::* m90)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetFrozen
Layer& (Layer::* m91)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m92)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerApply
void (Layer::* m93)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m94)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m95)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m95Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m96)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m97)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m98)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m99)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateConv
Layer (* m100)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreatePooling
Layer (* m101)(MPI_Comm, TenonPoolingMode, Ints, const Where&) = &Layer::pooling;
// TenonLayerCreateAffine
Layer (* m102)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerCreatePointwise
Layer (* m103)(MPI_Comm, Text, const Where&) = &Layer::pointwise;
// TenonLayerCreateFlatten
Layer (* m104)(MPI_Comm, const Where&) = &Layer::flatten;
// TenonLayerCreateCrossEntropy
Layer (* m105)(MPI_Comm, const Where&) = &Layer::crossEntropy;
// TenonLayerCreateMeanSquaredError
Layer (* m106)(MPI_Comm, const Where&) = &Layer::meanSquaredError;
// TenonLayerCreateDropout
Layer (* m107)(MPI_Comm, double, const Where&) = &Layer::dropout;
// TenonLayerCreateType
Layer (* m108)(MPI_Comm, Text, const Where&) = &Layer::ofType;
// TenonLayerCreateSequential
Layer (* m109)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m110)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateRepartition
Layer (* m111)(MPI_Comm, const Layout&, const Where&) = &Layer::repartition;
// TenonLayerCreateAdd
Layer (* m112)(MPI_Comm, const Where&) = &Layer::sum;
// TenonLayerCreateConcatenate
Layer (* m113)(MPI_Comm, int, const Where&) = &Layer::concatenate;
// TenonLayerSetOutputLayout
Layer& (Layer::* m114)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerCreateGraph
Layer (* m115)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphSetInputs
Layer& (Layer::* m116)(int, const Where&) = &Layer::graphSetInputs;
// TenonLayerGraphAddNode
int (Layer::* m117)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m118)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m119)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m120)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m121)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m122)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m123)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerSetStride
Layer& (Layer::* m124)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetDilation
Layer& (Layer::* m125)(Ints, const Where&) = &Layer::setDilation;
// TenonLayerSetPadding
Layer& (Layer::* m126)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m127)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetBoundaryConstant
Layer& (Layer::* m128)(double, const Where&) = &Layer::setBoundaryConstant;
// TenonLayerSetGroups
Layer& (Layer::* m129)(TenonInt, const Where&) = &Layer::setGroups;
// TenonLayerSetOverlap
Layer& (Layer::* m130)(TenonOverlap, const Where&) = &Layer::setOverlap;
// TenonLayerSetCeilMode
Layer& (Layer::* m131)(bool, const Where&) = &Layer::setCeilMode;
// TenonLayerSetBias
Layer& (Layer::* m132)(bool, const Where&) = &Layer::setBias;
// TenonLayerSetRate
Layer& (Layer::* m133)(double, const Where&) = &Layer::setRate;
// TenonLayerSetSlope
Layer& (Layer::* m134)(double, const Where&) = &Layer::setSlope;
// TenonLayerSetFactor
Layer& (Layer::* m135)(double, const Where&) = &Layer::setFactor;
// TenonLayerSetDataType
Layer& (Layer::* m136)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m137)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m138)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m139)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m140)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetBackend
Layer& (Layer::* m141)(Text, const Where&) = &Layer::setBackend;
// TenonLayerCreate
Layer m142(MPI_Comm comm, const Where& where) {
  return Layer(comm, where);
}
// TenonLayerSetType
Layer& (Layer::* m143)(Text, const Where&) = &Layer::setType;
// TenonLayerGetTypes
std::string (* m144)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m145)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m146)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayerGetSummary
std::string (Layer::* m147)(const Where&) const = &Layer::summary;
// TenonLayerSetExample
Layer::SetExampleResult (Layer::* m148)(TenonInt, const Where&) = &Layer::setExample;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m149)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLayerCreateFromFile
Layer (* m150)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerSaveNetwork
void (Layer::* m151)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerGetChild
Layer (Layer::* m152)(Text, const Where&) const = &Layer::child;
// TenonLayerGetParameterAt
DTensor (Layer::* m153)(Text, const Where&) const = &Layer::parameter;
// TenonLayerLoadWeights
void (Layer::* m154)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m155)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayoutCreateSharded
Layout m156(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m157(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreate
Layout m158(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m159)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m160)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m161)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m162)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m163)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m164)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m165)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m166)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m167)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m168)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m169)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m170)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m171)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m172)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m173)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m174)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m175)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m176)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m177)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m178)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m179)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyAdjointAdd
void (LinearOp::* m180)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdjointAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m181)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m182)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpApplyAdjointBegin
void (LinearOp::* m183)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdjointBegin;
// TenonLinearOpApplyAdjointEnd
void (LinearOp::* m184)(const Where&) = &LinearOp::applyAdjointEnd;
// TenonLinearOpBind
void (LinearOp::* m185)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpBindAdjoint
void (LinearOp::* m186)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bindAdjoint;
// TenonLinearOpUnbind
void (LinearOp::* m187)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m188)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m189)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataType
TenonDataType (LinearOp::* m190)(const Where&) const = &LinearOp::dataType;
// TenonLinearOpGetRangeDataType
TenonDataType (LinearOp::* m191)(const Where&) const = &LinearOp::rangeDataType;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m192)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m193)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m194)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m195)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m196)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m197)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreateRepartition
LinearOp (* m198)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::repartition;
// TenonLinearOpCreatePrimitive
LinearOp (* m199)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m200)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateAllocate
LinearOp (* m201)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateClear
LinearOp (* m202)(const Layout&, Ints, Ints, TenonDataType, const Where&) = &LinearOp::clear;
// TenonLinearOpCreateAdd
LinearOp (* m203)(const Layout&, Ints, Ints, Ints, TenonDataType, const Where&) = &LinearOp::add;
// TenonLinearOpCreateCopy
LinearOp (* m204)(const Layout&, Ints, Ints, Ints, TenonDataType, const Where&) = &LinearOp::copy;
// TenonLinearOpCreateMove
LinearOp (* m205)(const Layout&, Ints, Ints, Ints, TenonDataType, const Where&) = &LinearOp::move;
// TenonLinearOpCreateIdentity
LinearOp (* m206)(const Layout&, TenonDataType, const Where&) = &LinearOp::identity;
// TenonLinearOpCreateCast
LinearOp (* m207)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateZero
LinearOp (* m208)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::zero;
// TenonLinearOpCreateComposition
LinearOp (* m209)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m210)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m211)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m212)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m213)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m214)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m215)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m216)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLogEnable
void (* m217)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m218)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m219)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m220)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m221)(double, const Where&) = &tenon::logFlops;
// TenonLogStagePush
void (* m222)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m223)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m224)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonLayerSetTargetWeights
Layer& (Layer::* m225)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonMachineCreate
Machine m226(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m227)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m228)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m229)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m230)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m231)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m232)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m233)(const Where&) const = &Machine::counts;
// TenonMachineGetLevelName
std::string (Machine::* m234)(int, const Where&) const = &Machine::levelName;
// TenonMachineGetLevelSize
TenonInt (Machine::* m235)(int, const Where&) const = &Machine::levelSize;
// TenonMachineGetLinkName
std::string (Machine::* m236)(int, const Where&) const = &Machine::linkName;
// TenonMachineGetLink
Machine::Link (Machine::* m237)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m238)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m258(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m259)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m260)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m261)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m262)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m263)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m264)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m265)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m266)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m267)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m268)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m269)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m270)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m271)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m272)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m273)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m274)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m275)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m276)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredType
TenonOptionType (* m277)(int, const Where&) = &tenon::optionsDeclaredType;
// TenonOptionsGetDeclaredText
std::string (* m278)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m279)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m280)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m281)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m282)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m283(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m284)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m285)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m286)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m287)(const Where&) const = &Partition::extents;
// TenonPartitionGetPosition
int (Partition::* m288)(const Where&) const = &Partition::position;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m289)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m290)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m291)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m292)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m293)(void*, const Where&) = &Partition::setStream;
// TenonPlanCreateNamed
Plan (* m294)(Text, TenonInt, const Where&) = &Plan::named;
// TenonPlanSetMachine
Plan& (Plan::* m295)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m296)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m297)(const Where&) = &Plan::search;
// TenonPlanGetNumber
double (Plan::* m298)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerCount
TenonInt (Plan::* m299)(const Where&) const = &Plan::layerCount;
// TenonPlanGetLayerName
std::string (Plan::* m300)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetWord
std::string (Plan::* m301)(Text, const Where&) const = &Plan::word;
// TenonPlanGetRunnerUp
std::string (Plan::* m302)(Text, const Where&) const = &Plan::runnerUp;
// TenonPlanGetPublishedSeconds
double (Plan::* m303)(Text, TenonInt, TenonInt, TenonInt, TenonInt,
    const Where&) const = &Plan::publishedSeconds;
// TenonPlanCountConversion
Plan::CountConversionResult (* m304)(Text, Text, TenonInt, Ints,
    const Where&) = &Plan::countConversion;
// TenonPlanCreate
Plan m305(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m306)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetOutput
Plan& (Plan::* m307)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetUp
void (Plan::* m308)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m309)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m310)(Text, const Where&) = &Plan::load;
// TenonPlanReport
void (Plan::* m311)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m312)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m313)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m314)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m315)(const Where&) const = &Plan::inputLayout;
// TenonPlanApply
void (Plan::* m316)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m317)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m318)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m318Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonPlacementListCreate
PlacementList m319(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m320)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m321)(TenonInt, Array<TenonInt>,
    const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetCoordinates
void (PlacementList::* m322)(TenonInt, TenonInt, Array<TenonInt>,
    const Where&) const = &PlacementList::coordinates;
// TenonPlacementListGetDevice
TenonInt (PlacementList::* m323)(TenonInt, Ints, const Where&) const = &PlacementList::device;
// TenonPlacementListGetHierarchy
int (PlacementList::* m324)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonReductionProgramsCreate
ReductionPrograms m325(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m326)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetCountOfSize
TenonInt (ReductionPrograms::* m327)(int, const Where&) const = &ReductionPrograms::countOfSize;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m328)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m329)(TenonInt, const Where&) const = &ReductionPrograms::getText;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m330)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m331)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m332)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonTrainerCreate
Trainer m333(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m334)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m335)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m336)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m337)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m338)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m339)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m340)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m341)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m342)(const Where&) const = &Trainer::losses;

} // namespace every

template class Object<TenonTrainer>;
template class Object<TenonPartition>;
template class Object<TenonLayout>;
template class Object<TenonDTensor>;
template class Object<TenonLinearOp>;
template class Object<TenonLayer>;
template class Object<TenonMachine>;
template class Object<TenonOptimizer>;
template class Object<TenonDataset>;
template class Object<TenonCheckpoint>;
template class Object<TenonFieldSeries>;
template class Object<TenonPlacementList>;
template class Object<TenonReductionPrograms>;
template class Object<TenonPlan>;

} // namespace tenon
