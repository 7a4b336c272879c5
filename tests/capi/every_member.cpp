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
// TenonCheckpointSetFromOptions
Checkpoint& (Checkpoint::* m1)(const Where&) = &Checkpoint::setFromOptions;
// TenonCheckpointAddLayer
Checkpoint& (Checkpoint::* m2)(const Layer&, Text, const Where&) = &Checkpoint::addLayer;
// TenonCheckpointAddOptimizer
Checkpoint& (Checkpoint::* m3)(const Optimizer&, Text, const Where&) = &Checkpoint::addOptimizer;
// TenonCheckpointAddTensor
Checkpoint& (Checkpoint::* m4)(const DTensor&, Text, const Where&) = &Checkpoint::addTensor;
// TenonCheckpointSetInt
Checkpoint& (Checkpoint::* m5)(Text, TenonInt, const Where&) = &Checkpoint::setIntEntry;
// TenonCheckpointSetReal
Checkpoint& (Checkpoint::* m6)(Text, double, const Where&) = &Checkpoint::setRealEntry;
// TenonCheckpointSetString
Checkpoint& (Checkpoint::* m7)(Text, Text, const Where&) = &Checkpoint::setStringEntry;
// TenonCheckpointGetInt
TenonInt (Checkpoint::* m8)(Text, const Where&) const = &Checkpoint::intEntry;
// TenonCheckpointGetReal
double (Checkpoint::* m9)(Text, const Where&) const = &Checkpoint::realEntry;
// TenonCheckpointGetString
std::string (Checkpoint::* m10)(Text, const Where&) const = &Checkpoint::stringEntry;
// TenonCheckpointWrite
void (Checkpoint::* m11)(Text, const Where&) = &Checkpoint::write;
// TenonCheckpointWriteStep
void (Checkpoint::* m12)(Text, TenonInt, const Where&) = &Checkpoint::writeStep;
// TenonCheckpointRead
void (Checkpoint::* m13)(Text, const Where&) = &Checkpoint::read;
// TenonCheckpointReadLatest
TenonInt (Checkpoint::* m14)(Text, const Where&) = &Checkpoint::readLatest;
// TenonCheckpointOnSignal
void (Checkpoint::* m15)(int, const Where&) = &Checkpoint::onSignal;
// TenonCheckpointGetSignal
int (Checkpoint::* m16)(const Where&) const = &Checkpoint::signal;
// TenonCheckpointView
void (Checkpoint::* m17)(const Where&) const = &Checkpoint::view;
// TenonCheckpointViewFile
void (* m18)(Text, const Where&) = &Checkpoint::viewFile;
// TenonDatasetCreateIDX
Dataset m19(MPI_Comm comm, Text images, Text labels, const Where& where) {
  return Dataset(comm, images, labels, where);
}
// TenonDatasetCreateHDF5
Dataset (* m20)(MPI_Comm, Text, Text, Text, const Where&) = &Dataset::hdf5;
// TenonDatasetSetFromOptions
Dataset& (Dataset::* m21)(const Where&) = &Dataset::setFromOptions;
// TenonDatasetGetShape
Dataset::Shape (Dataset::* m22)(const Where&) const = &Dataset::shape;
// TenonDatasetGetDim
int (Dataset::* m23)(const Where&) const = &Dataset::dimensions;
// TenonDatasetGetSamplesShape
std::vector<TenonInt> (Dataset::* m24)(const Where&) const = &Dataset::samplesShape;
// TenonDatasetSetScaling
Dataset& (Dataset::* m25)(double, double, const Where&) = &Dataset::setScaling;
// TenonDatasetSetShuffle
Dataset& (Dataset::* m26)(bool, TenonInt, const Where&) = &Dataset::setShuffle;
// TenonDatasetSetUp
void (Dataset::* m27)(const Layout&, const Layout&, const Where&) = &Dataset::setUp;
void (Dataset::* m27Short)(const Layout&, const Where&) = &Dataset::setUp;
// TenonDatasetGetBatchCount
TenonInt (Dataset::* m28)(const Where&) const = &Dataset::batches;
// TenonDatasetGetBatch
void (Dataset::* m29)(TenonInt, TenonInt, DTensor&, DTensor&, const Where&) const = &Dataset::batch;
void (Dataset::* m29Short)(TenonInt, TenonInt, DTensor&, const Where&) const = &Dataset::batch;
// TenonDTensorCreate
DTensor m30(const Layout& layout, TenonDataType type, const Where& where) {
  return DTensor(layout, type, where);
}
// TenonDTensorSetSpace
DTensor& (DTensor::* m31)(TenonMemorySpace, const Where&) = &DTensor::setSpace;
// TenonDTensorGetSpace
TenonMemorySpace (DTensor::* m32)(const Where&) const = &DTensor::space;
// TenonDTensorGatherArrays
void (DTensor::* m33)(const Where&) = &DTensor::gatherArrays;
// TenonDTensorScatterArrays
void (DTensor::* m34)(const Where&) = &DTensor::scatterArrays;
// TenonDTensorSetPrivate
DTensor& (DTensor::* m35)(bool, const Where&) = &DTensor::setPrivate;
// TenonDTensorGetStrides
std::vector<TenonInt> (DTensor::* m36)(const Where&) const = &DTensor::strides;
// TenonDTensorGetLayout
Layout (DTensor::* m37)(const Where&) const = &DTensor::layout;
// TenonDTensorGetDataType
TenonDataType (DTensor::* m38)(const Where&) const = &DTensor::dataType;
// TenonDTensorGetBox
Box (DTensor::* m39)(const Where&) const = &DTensor::box;
// TenonDTensorGetLocalSize
TenonInt (DTensor::* m40)(const Where&) const = &DTensor::localSize;
// TenonDTensorCopy
void (DTensor::* m41)(const DTensor&, const Where&) = &DTensor::copy;
// TenonDTensorAXPBY
void (DTensor::* m42)(double, const DTensor&, double, const Where&) = &DTensor::axpby;
// TenonDTensorScale
void (DTensor::* m43)(double, const Where&) = &DTensor::scale;
// TenonDTensorFillConstant
void (DTensor::* m44)(double, const Where&) = &DTensor::fill;
// TenonDTensorFillUniform
void (DTensor::* m45)(TenonInt, TenonInt, double, double, const Where&) = &DTensor::fillUniform;
// TenonDTensorFillNormal
void (DTensor::* m46)(TenonInt, TenonInt, double, double, const Where&) = &DTensor::fillNormal;
// TenonDTensorFillTest
void (DTensor::* m47)(TenonInt, bool, const Where&) = &DTensor::fillTest;
// TenonDTensorNorm
double (DTensor::* m48)(const Where&) const = &DTensor::norm;
// TenonDTensorPairing
double (DTensor::* m49)(const DTensor&, const Where&) const = &DTensor::pairing;
// TenonDTensorMaxAbs
double (DTensor::* m50)(const Where&) const = &DTensor::maxAbs;
// TenonDTensorView
void (DTensor::* m51)(const Where&) const = &DTensor::view;
// TenonErrorString
std::string (* m52)(TenonErrorCode) = &tenon::errorString;
// TenonErrorName
std::string (* m53)(TenonErrorCode) = &tenon::errorName;
// TenonGetLastError
LastError (* m54)(const Where&) = &tenon::lastError;
// TenonGetLastErrorReport
std::string (* m55)(const Where&) = &tenon::lastErrorReport;
// TenonPushErrorHandler
void (* m56)(TenonErrorHandler, void*, const Where&) = &tenon::pushErrorHandler;
// TenonPopErrorHandler
void (* m57)(const Where&) = &tenon::popErrorHandler;
// TenonSetFatalErrorHandler
void (* m58)(TenonErrorHandler, void*, const Where&) = &tenon::setFatalErrorHandler;
// TenonAbort
void (* m59)(TenonErrorCode) = &tenon::abort;
// TenonLayerCreateShell
Layer (* m60)(MPI_Comm, const Where&) = &Layer::shell;
// TenonLayerShellSetFunctions
Layer& (Layer::* m61)(const TenonLayerShellFunctions&, const Where&) = &Layer::shellSetFunctions;
// TenonLayerShellSetContext
Layer& (Layer::* m62)(void*, TenonLayerShellDestroyer, const Where&) = &Layer::shellSetContext;
// TenonLayerShellGetContext
void* (Layer::* m63)(const Where&) const = &Layer::shellContext;
// TenonLayerShellSetLabels
Layer& (Layer::* m64)(Text, const Where&) = &Layer::shellSetLabels;
// TenonLayerShellSetSaved
Layer& (Layer::* m65)(bool, bool, const Where&) = &Layer::shellSetSaved;
// TenonLayerShellAddParameter
Layer& (Layer::* m66)(Text, Ints, TenonInt, TenonInt, const Where&) = &Layer::shellAddParameter;
// TenonLayerShellAddState
Layer& (Layer::* m67)(Text, Ints, double, const Where&) = &Layer::shellAddState;
// TenonLayerShellSetWorkspace
Layer& (Layer::* m68)(TenonInt, const Where&) = &Layer::shellSetWorkspace;
// TenonLayerShellGetValue
Borrowed<DTensor> (Layer::* m69)(int, const Where&) const = &Layer::shellValue;
// TenonLayerShellGetTangent
Borrowed<DTensor> (Layer::* m70)(int, const Where&) const = &Layer::shellTangent;
// TenonLayerShellGetGradient
Borrowed<DTensor> (Layer::* m71)(int, const Where&) const = &Layer::shellGradient;
// TenonLayerShellGetState
Borrowed<DTensor> (Layer::* m72)(int, const Where&) const = &Layer::shellState;
// TenonLayerShellGetWorkspace
void* (Layer::* m73)(const Where&) const = &Layer::shellWorkspace;
// TenonLayerRegister
void (* m74)(Text, TenonLayerCreator, const Where&) = &Layer::registerType;
// TenonLinearOpRegister
void (* m75)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonFieldSeriesCreate
FieldSeries m76(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetFromOptions
FieldSeries& (FieldSeries::* m77)(const Where&) = &FieldSeries::setFromOptions;
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m78)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m79)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m80)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonFieldSeriesView
void (FieldSeries::* m81)(const Where&) const = &FieldSeries::view;
// TenonInitialized
bool (* m82)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m83)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m84)(const Where&) = &tenon::version;
// TenonGetVersionString
std::string (* m85)(const Where&) = &tenon::versionString;
// TenonGetBuildInfo
std::string (* m86)(const Where&) = &tenon::buildInfo;
// TenonGetDeviceInfo
std::string (* m87)(const Where&) = &tenon::deviceInfo;
// TenonGetPerformanceAdvice
std::string (* m88)(const Where&) = &tenon::performanceAdvice;
// TenonLayerSetUp
void (Layer::* m89)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m90)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m91)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m92)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m93)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m94)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m95)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m96)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m97)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m98)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m99)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerSetTraining
Layer& (Layer::* m100)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetFrozen
Layer& (Layer::* m101)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m102)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerApply
void (Layer::* m103)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m104)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m105)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m105Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m106)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m107)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m108)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m109)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerView
void (Layer::* m110)(const Where&) const = &Layer::view;
// TenonLayerCreateConv
Layer (* m111)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreatePooling
Layer (* m112)(MPI_Comm, TenonPoolingMode, Ints, const Where&) = &Layer::pooling;
// TenonLayerCreateAffine
Layer (* m113)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerCreatePointwise
Layer (* m114)(MPI_Comm, Text, const Where&) = &Layer::pointwise;
// TenonLayerCreateFlatten
Layer (* m115)(MPI_Comm, const Where&) = &Layer::flatten;
// TenonLayerCreateCrossEntropy
Layer (* m116)(MPI_Comm, const Where&) = &Layer::crossEntropy;
// TenonLayerCreateMeanSquaredError
Layer (* m117)(MPI_Comm, const Where&) = &Layer::meanSquaredError;
// TenonLayerCreateDropout
Layer (* m118)(MPI_Comm, double, const Where&) = &Layer::dropout;
// TenonLayerCreateType
Layer (* m119)(MPI_Comm, Text, const Where&) = &Layer::ofType;
// TenonLayerCreateSequential
Layer (* m120)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m121)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateRepartition
Layer (* m122)(MPI_Comm, const Layout&, const Where&) = &Layer::repartition;
// TenonLayerCreateAdd
Layer (* m123)(MPI_Comm, const Where&) = &Layer::sum;
// TenonLayerCreateConcatenate
Layer (* m124)(MPI_Comm, int, const Where&) = &Layer::concatenate;
// TenonLayerSetOutputLayout
Layer& (Layer::* m125)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerCreateGraph
Layer (* m126)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphSetInputs
Layer& (Layer::* m127)(int, const Where&) = &Layer::graphSetInputs;
// TenonLayerGraphAddNode
int (Layer::* m128)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m129)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m130)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m131)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m132)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m133)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m134)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerSetStride
Layer& (Layer::* m135)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetDilation
Layer& (Layer::* m136)(Ints, const Where&) = &Layer::setDilation;
// TenonLayerSetPadding
Layer& (Layer::* m137)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m138)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetBoundaryConstant
Layer& (Layer::* m139)(double, const Where&) = &Layer::setBoundaryConstant;
// TenonLayerSetGroups
Layer& (Layer::* m140)(TenonInt, const Where&) = &Layer::setGroups;
// TenonLayerSetOverlap
Layer& (Layer::* m141)(TenonOverlap, const Where&) = &Layer::setOverlap;
// TenonLayerSetCeilMode
Layer& (Layer::* m142)(bool, const Where&) = &Layer::setCeilMode;
// TenonLayerSetBias
Layer& (Layer::* m143)(bool, const Where&) = &Layer::setBias;
// TenonLayerSetRate
Layer& (Layer::* m144)(double, const Where&) = &Layer::setRate;
// TenonLayerSetSlope
Layer& (Layer::* m145)(double, const Where&) = &Layer::setSlope;
// TenonLayerSetFactor
Layer& (Layer::* m146)(double, const Where&) = &Layer::setFactor;
// TenonLayerSetDataType
Layer& (Layer::* m147)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m148)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m149)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m150)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m151)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetBackend
Layer& (Layer::* m152)(Text, const Where&) = &Layer::setBackend;
// TenonLayerSetFromOptions
Layer& (Layer::* m153)(const Where&) = &Layer::setFromOptions;
// TenonLayerCreate
Layer m154(MPI_Comm comm, const Where& where) {
  return Layer(comm, where);
}
// TenonLayerSetType
Layer& (Layer::* m155)(Text, const Where&) = &Layer::setType;
// TenonLayerGetType
std::string (Layer::* m156)(const Where&) const = &Layer::type;
// TenonLayerGetTypes
std::string (* m157)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m158)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m159)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayerGetSummary
std::string (Layer::* m160)(const Where&) const = &Layer::summary;
// TenonLayerSetExample
Layer::SetExampleResult (Layer::* m161)(TenonInt, const Where&) = &Layer::setExample;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m162)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLayerSetIntegers
Layer& (Layer::* m163)(Text, Ints, const Where&) = &Layer::setIntegers;
// TenonLayerSetReal
Layer& (Layer::* m164)(Text, double, const Where&) = &Layer::setReal;
// TenonLayerSetText
Layer& (Layer::* m165)(Text, Text, const Where&) = &Layer::setText;
// TenonLayerSetBool
Layer& (Layer::* m166)(Text, bool, const Where&) = &Layer::setBool;
// TenonLayerGetIntegers
std::vector<TenonInt> (Layer::* m167)(Text, const Where&) const = &Layer::getIntegers;
// TenonLayerGetReal
double (Layer::* m168)(Text, const Where&) const = &Layer::getReal;
// TenonLayerGetText
std::string (Layer::* m169)(Text, const Where&) const = &Layer::getText;
// TenonLayerGetBool
bool (Layer::* m170)(Text, const Where&) const = &Layer::getBool;
// TenonLayerIsSet
bool (Layer::* m171)(Text, const Where&) = &Layer::isSet;
// TenonLayerCreateFromFile
Layer (* m172)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerSaveNetwork
void (Layer::* m173)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerGetChild
Layer (Layer::* m174)(Text, const Where&) const = &Layer::child;
// TenonLayerGetParameterAt
DTensor (Layer::* m175)(Text, const Where&) const = &Layer::parameter;
// TenonLayerLoadWeights
void (Layer::* m176)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m177)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayoutCreateSharded
Layout m178(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m179(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreate
Layout m180(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m181)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m182)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m183)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m184)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m185)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m186)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m187)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m188)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m189)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m190)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m191)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m192)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m193)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m194)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m195)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m196)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m197)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m198)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLayoutView
void (Layout::* m199)(const Where&) const = &Layout::view;
// TenonLinearOpApply
void (LinearOp::* m200)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m201)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m202)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyAdjointAdd
void (LinearOp::* m203)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdjointAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m204)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m205)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpApplyAdjointBegin
void (LinearOp::* m206)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdjointBegin;
// TenonLinearOpApplyAdjointEnd
void (LinearOp::* m207)(const Where&) = &LinearOp::applyAdjointEnd;
// TenonLinearOpBind
void (LinearOp::* m208)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpBindAdjoint
void (LinearOp::* m209)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bindAdjoint;
// TenonLinearOpUnbind
void (LinearOp::* m210)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetType
std::string (LinearOp::* m211)(const Where&) const = &LinearOp::type;
// TenonLinearOpGetDomain
Layout (LinearOp::* m212)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m213)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataType
TenonDataType (LinearOp::* m214)(const Where&) const = &LinearOp::dataType;
// TenonLinearOpGetRangeDataType
TenonDataType (LinearOp::* m215)(const Where&) const = &LinearOp::rangeDataType;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m216)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m217)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpView
void (LinearOp::* m218)(const Where&) const = &LinearOp::view;
// TenonLinearOpCreateConversion
LinearOp (* m219)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m220)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m221)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m222)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreateRepartition
LinearOp (* m223)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::repartition;
// TenonLinearOpCreatePrimitive
LinearOp (* m224)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m225)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateAllocate
LinearOp (* m226)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateClear
LinearOp (* m227)(const Layout&, Ints, Ints, TenonDataType, const Where&) = &LinearOp::clear;
// TenonLinearOpCreateAdd
LinearOp (* m228)(const Layout&, Ints, Ints, Ints, TenonDataType, const Where&) = &LinearOp::add;
// TenonLinearOpCreateCopy
LinearOp (* m229)(const Layout&, Ints, Ints, Ints, TenonDataType, const Where&) = &LinearOp::copy;
// TenonLinearOpCreateMove
LinearOp (* m230)(const Layout&, Ints, Ints, Ints, TenonDataType, const Where&) = &LinearOp::move;
// TenonLinearOpCreateIdentity
LinearOp (* m231)(const Layout&, TenonDataType, const Where&) = &LinearOp::identity;
// TenonLinearOpCreateCast
LinearOp (* m232)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateZero
LinearOp (* m233)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::zero;
// TenonLinearOpCreateComposition
LinearOp (* m234)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m235)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m236)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m237)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m238)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m239)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m240)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m241)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLogEnable
void (* m242)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m243)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m244)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m245)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m246)(double, const Where&) = &tenon::logFlops;
// TenonLogStagePush
void (* m247)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m248)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m249)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonLayerSetTargetWeights
Layer& (Layer::* m250)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonMachineCreate
Machine m251(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m252)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m253)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m254)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m255)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m256)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m257)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m258)(const Where&) const = &Machine::counts;
// TenonMachineGetLevelName
std::string (Machine::* m259)(int, const Where&) const = &Machine::levelName;
// TenonMachineGetLevelSize
TenonInt (Machine::* m260)(int, const Where&) const = &Machine::levelSize;
// TenonMachineGetLinkName
std::string (Machine::* m261)(int, const Where&) const = &Machine::linkName;
// TenonMachineGetLink
Machine::Link (Machine::* m262)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m263)(const Where&) const = &Machine::ranks;
// TenonMachineView
void (Machine::* m264)(const Where&) const = &Machine::view;
// TenonOptimizerCreate
Optimizer m272(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m273)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerSetWeightDecay
Optimizer& (Optimizer::* m274)(double, const Where&) = &Optimizer::setWeightDecay;
// TenonOptimizerSGDSetMomentum
Optimizer& (Optimizer::* m275)(double, bool, const Where&) = &Optimizer::sgdSetMomentum;
// TenonOptimizerAdamSetBetas
Optimizer& (Optimizer::* m276)(double, double, const Where&) = &Optimizer::adamSetBetas;
// TenonOptimizerAdamSetEpsilon
Optimizer& (Optimizer::* m277)(double, const Where&) = &Optimizer::adamSetEpsilon;
// TenonOptimizerLBFGSSetHistory
Optimizer& (Optimizer::* m278)(TenonInt, const Where&) = &Optimizer::lbfgsSetHistory;
// TenonOptimizerLBFGSSetIterations
Optimizer& (Optimizer::* m279)(TenonInt, const Where&) = &Optimizer::lbfgsSetIterations;
// TenonOptimizerLBFGSSetTolerances
Optimizer& (Optimizer::* m280)(double, double, const Where&) = &Optimizer::lbfgsSetTolerances;
// TenonOptimizerSetSchedule
Optimizer& (Optimizer::* m281)(Text, TenonInt, double, double,
    const Where&) = &Optimizer::setSchedule;
// TenonOptimizerSetWarmup
Optimizer& (Optimizer::* m282)(TenonInt, const Where&) = &Optimizer::setWarmup;
// TenonOptimizerSetPatience
Optimizer& (Optimizer::* m283)(TenonInt, TenonInt, double, const Where&) = &Optimizer::setPatience;
// TenonOptimizerReport
bool (Optimizer::* m284)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m285)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerSetNotFinite
Optimizer& (Optimizer::* m286)(Text, const Where&) = &Optimizer::setNotFinite;
// TenonOptimizerSetFromOptions
Optimizer& (Optimizer::* m287)(const Where&) = &Optimizer::setFromOptions;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m288)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m289)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m290)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m291)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m292)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m293)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m294)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m295)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m296)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m297)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m298)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m299)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m300)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m301)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m302)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredType
TenonOptionType (* m303)(int, const Where&) = &tenon::optionsDeclaredType;
// TenonOptionsGetDeclaredText
std::string (* m304)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m305)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m306)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m307)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m308)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m309(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m310)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m311)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m312)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m313)(const Where&) const = &Partition::extents;
// TenonPartitionGetPosition
int (Partition::* m314)(const Where&) const = &Partition::position;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m315)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m316)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m317)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m318)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m319)(void*, const Where&) = &Partition::setStream;
// TenonPartitionView
void (Partition::* m320)(const Where&) const = &Partition::view;
// TenonPlanCreateNamed
Plan (* m321)(Text, TenonInt, const Where&) = &Plan::named;
// TenonPlanSetProcesses
Plan& (Plan::* m322)(TenonInt, const Where&) = &Plan::setProcesses;
// TenonPlanSetModel
Plan& (Plan::* m323)(Text, const Where&) = &Plan::setModel;
// TenonPlanSetLink
Plan& (Plan::* m324)(double, double, const Where&) = &Plan::setLink;
// TenonPlanSetMachine
Plan& (Plan::* m325)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanSetInputShape
Plan& (Plan::* m326)(Ints, const Where&) = &Plan::setInputShape;
// TenonPlanSetFlopRate
Plan& (Plan::* m327)(double, const Where&) = &Plan::setFlopRate;
// TenonPlanSetMemoryRate
Plan& (Plan::* m328)(double, const Where&) = &Plan::setMemoryRate;
// TenonPlanSetDataType
Plan& (Plan::* m329)(TenonDataType, const Where&) = &Plan::setDataType;
// TenonPlanSetInputChannels
Plan& (Plan::* m330)(bool, const Where&) = &Plan::setInputChannels;
// TenonPlanSetMemoryLimit
Plan& (Plan::* m331)(TenonInt, const Where&) = &Plan::setMemoryLimit;
// TenonPlanFix
void (Plan::* m332)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSetObjective
Plan& (Plan::* m333)(Text, TenonInt, const Where&) = &Plan::setObjective;
// TenonPlanSetInputGrid
Plan& (Plan::* m334)(List<int>, Text, const Where&) = &Plan::setInputGrid;
// TenonPlanSetOutputGrid
Plan& (Plan::* m335)(List<int>, Text, const Where&) = &Plan::setOutputGrid;
// TenonPlanSetPlacement
Plan& (Plan::* m336)(Text, const Where&) = &Plan::setPlacement;
// TenonPlanSetFewerProcesses
Plan& (Plan::* m337)(bool, const Where&) = &Plan::setFewerProcesses;
// TenonPlanSetOverlap
Plan& (Plan::* m338)(double, const Where&) = &Plan::setOverlap;
// TenonPlanSearch
void (Plan::* m339)(const Where&) = &Plan::search;
// TenonPlanGetSeconds
double (Plan::* m340)(Text, const Where&) const = &Plan::seconds;
// TenonPlanGetGrid
Plan::Grid (Plan::* m341)(const Where&) const = &Plan::grid;
// TenonPlanGetBytes
double (Plan::* m342)(const Where&) const = &Plan::bytes;
// TenonPlanGetGap
double (Plan::* m343)(const Where&) const = &Plan::gap;
// TenonPlanGetSearches
TenonInt (Plan::* m344)(const Where&) const = &Plan::searches;
// TenonPlanGetLayerCount
TenonInt (Plan::* m345)(const Where&) const = &Plan::layerCount;
// TenonPlanGetLayerName
std::string (Plan::* m346)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetWord
std::string (Plan::* m347)(Text, const Where&) const = &Plan::word;
// TenonPlanGetChoice
Plan::Choice (Plan::* m348)(Text, const Where&) const = &Plan::choice;
// TenonPlanGetLayerBytes
double (Plan::* m349)(Text, const Where&) const = &Plan::layerBytes;
// TenonPlanGetRunnerUp
Plan::RunnerUp (Plan::* m350)(Text, const Where&) const = &Plan::runnerUp;
// TenonPlanGetPublishedSeconds
double (Plan::* m351)(Text, TenonInt, TenonInt, TenonInt, TenonInt,
    const Where&) const = &Plan::publishedSeconds;
// TenonPlanCountConversion
Plan::CountConversionResult (* m352)(Text, Text, TenonInt, Ints,
    const Where&) = &Plan::countConversion;
// TenonPlanCreate
Plan m353(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m354)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetOutput
Plan& (Plan::* m355)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetGradientBucket
Plan& (Plan::* m356)(TenonInt, const Where&) = &Plan::setGradientBucket;
// TenonPlanSetUp
void (Plan::* m357)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m358)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m359)(Text, const Where&) = &Plan::load;
// TenonPlanView
void (Plan::* m360)(const Where&) const = &Plan::view;
// TenonPlanReport
void (Plan::* m361)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m362)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m363)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m364)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m365)(const Where&) const = &Plan::inputLayout;
// TenonPlanApply
void (Plan::* m366)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m367)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m368)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m368Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonPlacementListCreate
PlacementList m369(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m370)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m371)(TenonInt, Array<TenonInt>,
    const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetCoordinates
void (PlacementList::* m372)(TenonInt, TenonInt, Array<TenonInt>,
    const Where&) const = &PlacementList::coordinates;
// TenonPlacementListGetDevice
TenonInt (PlacementList::* m373)(TenonInt, Ints, const Where&) const = &PlacementList::device;
// TenonPlacementListGetHierarchy
int (PlacementList::* m374)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonReductionProgramsCreate
ReductionPrograms m375(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m376)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetCountOfSize
TenonInt (ReductionPrograms::* m377)(int, const Where&) const = &ReductionPrograms::countOfSize;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m378)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m379)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m380)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m381)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m382)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonTrainerCreate
Trainer m383(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m384)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m385)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m386)(const Dataset&, TenonInt, const Where&) = &Trainer::setValidation;
// TenonTrainerSetAccumulation
Trainer& (Trainer::* m387)(TenonInt, const Where&) = &Trainer::setAccumulation;
// TenonTrainerSetGradientNorm
Trainer& (Trainer::* m388)(double, const Where&) = &Trainer::setGradientNorm;
// TenonTrainerSetCallback
Trainer& (Trainer::* m389)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m390)(const Checkpoint&, Text, TenonInt,
    const Where&) = &Trainer::setCheckpoint;
// TenonTrainerSetFromOptions
Trainer& (Trainer::* m391)(const Where&) = &Trainer::setFromOptions;
// TenonTrainerRun
void (Trainer::* m392)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m393)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m394)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m395)(const Where&) const = &Trainer::losses;

} // namespace every

template class Object<Trainer, TenonTrainer>;
template class Object<Partition, TenonPartition>;
template class Object<Layout, TenonLayout>;
template class Object<DTensor, TenonDTensor>;
template class Object<LinearOp, TenonLinearOp>;
template class Object<Layer, TenonLayer>;
template class Object<Machine, TenonMachine>;
template class Object<Optimizer, TenonOptimizer>;
template class Object<Dataset, TenonDataset>;
template class Object<Checkpoint, TenonCheckpoint>;
template class Object<FieldSeries, TenonFieldSeries>;
template class Object<PlacementList, TenonPlacementList>;
template class Object<ReductionPrograms, TenonReductionPrograms>;
template class Object<Plan, TenonPlan>;

} // namespace tenon
