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
IndexMap shareIndexMap(const IndexMap& x) { return x.share(); }
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
Checkpoint& (Checkpoint::* m4)(Text, TenonInt, const Where&) = &Checkpoint::setIntEntry;
// TenonCheckpointSetReal
Checkpoint& (Checkpoint::* m5)(Text, double, const Where&) = &Checkpoint::setRealEntry;
// TenonCheckpointSetString
Checkpoint& (Checkpoint::* m6)(Text, Text, const Where&) = &Checkpoint::setStringEntry;
// TenonCheckpointGetInt
TenonInt (Checkpoint::* m7)(Text, const Where&) const = &Checkpoint::intEntry;
// TenonCheckpointGetReal
double (Checkpoint::* m8)(Text, const Where&) const = &Checkpoint::realEntry;
// TenonCheckpointGetString
std::string (Checkpoint::* m9)(Text, const Where&) const = &Checkpoint::stringEntry;
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
// TenonDTensorNorm
double (DTensor::* m40)(const Where&) const = &DTensor::norm;
// TenonDTensorPairing
double (DTensor::* m41)(const DTensor&, const Where&) const = &DTensor::pairing;
// TenonDTensorMaxAbs
double (DTensor::* m42)(const Where&) const = &DTensor::maxAbs;
// TenonErrorString
std::string (* m43)(TenonErrorCode) = &tenon::errorString;
// TenonErrorName
std::string (* m44)(TenonErrorCode) = &tenon::errorName;
// TenonGetLastError
LastError (* m45)(const Where&) = &tenon::lastError;
// TenonGetLastErrorReport
std::string (* m46)(const Where&) = &tenon::lastErrorReport;
// TenonPushErrorHandler
void (* m47)(TenonErrorHandler, void*, const Where&) = &tenon::pushErrorHandler;
// TenonPopErrorHandler
void (* m48)(const Where&) = &tenon::popErrorHandler;
// TenonSetFatalErrorHandler
void (* m49)(TenonErrorHandler, void*, const Where&) = &tenon::setFatalErrorHandler;
// TenonAbort
void (* m50)(TenonErrorCode) = &tenon::abort;
// TenonLayerShellSetFunctions
Layer& (Layer::* m51)(const TenonLayerShellFunctions&, const Where&) = &Layer::shellSetFunctions;
// TenonLayerShellSetContext
Layer& (Layer::* m52)(void*, TenonLayerShellDestroyer, const Where&) = &Layer::shellSetContext;
// TenonLayerShellGetContext
void* (Layer::* m53)(const Where&) const = &Layer::shellContext;
// TenonLayerShellSetLabels
Layer& (Layer::* m54)(Text, const Where&) = &Layer::shellSetLabels;
// TenonLayerShellSetSaved
Layer& (Layer::* m55)(bool, bool, const Where&) = &Layer::shellSetSaved;
// TenonLayerShellAddParameter
Layer& (Layer::* m56)(Text, Ints, TenonInt, TenonInt, const Where&) = &Layer::shellAddParameter;
// TenonLayerShellAddState
Layer& (Layer::* m57)(Text, Ints, double, const Where&) = &Layer::shellAddState;
// TenonLayerShellSetWorkspace
Layer& (Layer::* m58)(TenonInt, const Where&) = &Layer::shellSetWorkspace;
// TenonLayerShellGetValue
Borrowed<DTensor> (Layer::* m59)(int, const Where&) const = &Layer::shellValue;
// TenonLayerShellGetTangent
Borrowed<DTensor> (Layer::* m60)(int, const Where&) const = &Layer::shellTangent;
// TenonLayerShellGetGradient
Borrowed<DTensor> (Layer::* m61)(int, const Where&) const = &Layer::shellGradient;
// TenonLayerShellGetState
Borrowed<DTensor> (Layer::* m62)(int, const Where&) const = &Layer::shellState;
// TenonLayerShellGetWorkspace
void* (Layer::* m63)(const Where&) const = &Layer::shellWorkspace;
// TenonLayerRegister
void (* m64)(Text, TenonLayerCreator, const Where&) = &Layer::registerType;
// TenonLayerSetExample
Layer::SetExampleResult (Layer::* m65)(TenonInt, const Where&) = &Layer::setExample;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m66)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLinearOpCreateAllocate
LinearOp (* m67)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateMemory
LinearOp (* m68)(const Layout&, Text, Ints, Ints, Ints, TenonDataType,
    const Where&) = &LinearOp::memory;
// TenonLinearOpRegister
void (* m69)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonPlacementListCreate
PlacementList m70(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m71)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m72)(TenonInt, Array<TenonInt>, const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetHierarchy
int (PlacementList::* m73)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonReductionProgramsCreate
ReductionPrograms m74(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m75)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m76)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m77)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m78)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m79)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m80)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonFieldSeriesCreate
FieldSeries m81(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m82)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m83)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m84)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonIndexMapCreateFromIds
IndexMap (* m85)(MPI_Comm, TenonInt, Ints, const Where&) = &IndexMap::fromIds;
// TenonIndexMapCreateCells
IndexMap (* m86)(const Layout&, const Layout&, List<int>, Ints, Ints, List<double>,
    const Where&) = &IndexMap::cells;
// TenonIndexMapGetLayouts
IndexMap::Layouts (IndexMap::* m87)(Ints, const Where&) const = &IndexMap::layouts;
// TenonLinearOpCreateIndexMap
LinearOp (* m88)(const IndexMap&, const Layout&, TenonDataType, const Where&) = &LinearOp::indexMap;
// TenonInitialized
bool (* m89)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m90)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m91)(const Where&) = &tenon::version;
// TenonGetInfo
std::string (* m92)(Text, const Where&) = &tenon::info;
// TenonLayerSetDataType
Layer& (Layer::* m93)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m94)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m95)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m96)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m97)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetUp
void (Layer::* m98)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m99)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m100)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m101)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m102)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m103)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m104)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m105)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m106)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m107)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m108)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerSetTraining
Layer& (Layer::* m109)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetFrozen
Layer& (Layer::* m110)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m111)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerSetTargetWeights
Layer& (Layer::* m112)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonLayerApply
void (Layer::* m113)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m114)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m115)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m115Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m116)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m117)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m118)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m119)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateSequential
Layer (* m120)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m121)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateGraph
Layer (* m122)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphAddNode
int (Layer::* m123)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m124)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m125)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m126)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m127)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m128)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m129)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerCreateFromFile
Layer (* m130)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerSaveNetwork
void (Layer::* m131)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerLoadWeights
void (Layer::* m132)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m133)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayerGetChild
Layer (Layer::* m134)(Text, const Where&) const = &Layer::child;
// TenonLayerGetParameterAt
DTensor (Layer::* m135)(Text, const Where&) const = &Layer::parameter;
// TenonLayerCreateConv
Layer (* m136)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreateAffine
Layer (* m137)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerSetStride
Layer& (Layer::* m138)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetPadding
Layer& (Layer::* m139)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m140)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetOutputLayout
Layer& (Layer::* m141)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerGetTypes
std::string (* m142)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m143)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m144)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayoutCreateSharded
Layout m145(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m146(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreate
Layout m147(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m148)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m149)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m150)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m151)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m152)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m153)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m154)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m155)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m156)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m157)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m158)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m159)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m160)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m161)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m162)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m163)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m164)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m165)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m166)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m167)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m168)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m169)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m170)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpBind
void (LinearOp::* m171)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpUnbind
void (LinearOp::* m172)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m173)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m174)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataTypes
LinearOp::DataTypes (LinearOp::* m175)(const Where&) const = &LinearOp::dataTypes;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m176)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m177)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m178)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m179)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m180)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m181)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreatePrimitive
LinearOp (* m182)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m183)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateCast
LinearOp (* m184)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateComposition
LinearOp (* m185)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m186)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m187)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m188)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m189)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m190)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m191)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m192)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLogEnable
void (* m193)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m194)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m195)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m196)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m197)(double, const Where&) = &tenon::logFlops;
// TenonLogGetWork
LogWork (* m198)(const Where&) = &tenon::logWork;
// TenonLogStagePush
void (* m199)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m200)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m201)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonMachineCreate
Machine m202(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m203)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m204)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m205)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m206)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m207)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m208)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m209)(const Where&) const = &Machine::counts;
// TenonMachineGetLevel
Machine::Level (Machine::* m210)(int, const Where&) const = &Machine::level;
// TenonMachineGetLink
Machine::Link (Machine::* m211)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m212)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m232(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m233)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m234)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m235)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m236)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m237)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m238)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m239)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m240)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m241)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m242)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m243)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m244)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m245)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m246)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m247)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m248)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m249)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m250)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredText
std::string (* m251)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m252)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m253)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m254)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m255)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m256(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m257)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m258)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m259)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m260)(const Where&) const = &Partition::extents;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m261)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m262)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m263)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m264)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m265)(void*, const Where&) = &Partition::setStream;
// TenonPlanCreate
Plan m266(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m267)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetOutput
Plan& (Plan::* m268)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetMachine
Plan& (Plan::* m269)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m270)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m271)(const Where&) = &Plan::search;
// TenonPlanSetUp
void (Plan::* m272)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m273)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m274)(Text, const Where&) = &Plan::load;
// TenonPlanGetNumber
double (Plan::* m275)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerName
std::string (Plan::* m276)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetText
std::string (Plan::* m277)(Text, Text, const Where&) const = &Plan::text;
// TenonPlanReport
void (Plan::* m278)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m279)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m280)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m281)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m282)(const Where&) const = &Plan::inputLayout;
// TenonPlanApply
void (Plan::* m283)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m284)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m285)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m285Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonTrainerCreate
Trainer m286(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m287)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m288)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m289)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m290)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m291)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m292)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m293)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m294)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m295)(const Where&) const = &Trainer::losses;

} // namespace every

template class Object<Trainer, TenonTrainer>;
template class Object<Partition, TenonPartition>;
template class Object<Layout, TenonLayout>;
template class Object<IndexMap, TenonIndexMap>;
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
