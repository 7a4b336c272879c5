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
Edges shareEdges(const Edges& x) { return x.share(); }
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
// TenonEdgesCreate
Edges m43(const IndexMap& targets, const IndexMap& sources, Ints target, Ints source, Ints keys,
    List<double> weights, const Where& where) {
  return Edges(targets, sources, target, source, keys, weights, where);
}
// TenonEdgesCreateShared
Edges (* m44)(const IndexMap&, const IndexMap&, Ints, Ints, Ints, List<double>, List<double>,
    const Where&) = &Edges::shared;
// TenonEdgesGetLayout
Layout (Edges::* m45)(Ints, const Where&) const = &Edges::layout;
// TenonLayerSetEdges
Layer& (Layer::* m46)(Text, const Edges&, const Where&) = &Layer::setEdges;
// TenonLayerSetIndexMap
Layer& (Layer::* m47)(Text, const IndexMap&, const Where&) = &Layer::setIndexMap;
// TenonLayerCreateMessagePassing
Layer (Layer::* m48)(const Layer&, int, Text, const Where&) const = &Layer::messagePassing;
// TenonErrorString
std::string (* m49)(TenonErrorCode) = &tenon::errorString;
// TenonErrorName
std::string (* m50)(TenonErrorCode) = &tenon::errorName;
// TenonGetLastError
LastError (* m51)(const Where&) = &tenon::lastError;
// TenonGetLastErrorReport
std::string (* m52)(const Where&) = &tenon::lastErrorReport;
// TenonPushErrorHandler
void (* m53)(TenonErrorHandler, void*, const Where&) = &tenon::pushErrorHandler;
// TenonPopErrorHandler
void (* m54)(const Where&) = &tenon::popErrorHandler;
// TenonSetFatalErrorHandler
void (* m55)(TenonErrorHandler, void*, const Where&) = &tenon::setFatalErrorHandler;
// TenonAbort
void (* m56)(TenonErrorCode) = &tenon::abort;
// TenonLayerShellSetFunctions
Layer& (Layer::* m57)(const TenonLayerShellFunctions&, const Where&) = &Layer::shellSetFunctions;
// TenonLayerShellSetContext
Layer& (Layer::* m58)(void*, TenonLayerShellDestroyer, const Where&) = &Layer::shellSetContext;
// TenonLayerShellGetContext
void* (Layer::* m59)(const Where&) const = &Layer::shellContext;
// TenonLayerShellSetLabels
Layer& (Layer::* m60)(Text, const Where&) = &Layer::shellSetLabels;
// TenonLayerShellSetSaved
Layer& (Layer::* m61)(bool, bool, const Where&) = &Layer::shellSetSaved;
// TenonLayerShellAddParameter
Layer& (Layer::* m62)(Text, Ints, TenonInt, TenonInt, const Where&) = &Layer::shellAddParameter;
// TenonLayerShellAddState
Layer& (Layer::* m63)(Text, Ints, double, const Where&) = &Layer::shellAddState;
// TenonLayerShellSetWorkspace
Layer& (Layer::* m64)(TenonInt, const Where&) = &Layer::shellSetWorkspace;
// TenonLayerShellGetValue
Borrowed<DTensor> (Layer::* m65)(int, const Where&) const = &Layer::shellValue;
// TenonLayerShellGetTangent
Borrowed<DTensor> (Layer::* m66)(int, const Where&) const = &Layer::shellTangent;
// TenonLayerShellGetGradient
Borrowed<DTensor> (Layer::* m67)(int, const Where&) const = &Layer::shellGradient;
// TenonLayerShellGetState
Borrowed<DTensor> (Layer::* m68)(int, const Where&) const = &Layer::shellState;
// TenonLayerShellGetWorkspace
void* (Layer::* m69)(const Where&) const = &Layer::shellWorkspace;
// TenonLayerRegister
void (* m70)(Text, TenonLayerCreator, const Where&) = &Layer::registerType;
// TenonLayerSetExample
Layer::SetExampleResult (Layer::* m71)(TenonInt, const Where&) = &Layer::setExample;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m72)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLinearOpCreateAllocate
LinearOp (* m73)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateMemory
LinearOp (* m74)(const Layout&, Text, Ints, Ints, Ints, TenonDataType,
    const Where&) = &LinearOp::memory;
// TenonLinearOpRegister
void (* m75)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonPlacementListCreate
PlacementList m76(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m77)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m78)(TenonInt, Array<TenonInt>, const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetHierarchy
int (PlacementList::* m79)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonReductionProgramsCreate
ReductionPrograms m80(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m81)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m82)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m83)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m84)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m85)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m86)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonFieldSeriesCreate
FieldSeries m87(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m88)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m89)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m90)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonIndexMapCreateFromIds
IndexMap (* m91)(MPI_Comm, TenonInt, Ints, const Where&) = &IndexMap::fromIds;
// TenonIndexMapCreateCells
IndexMap (* m92)(const Layout&, const Layout&, List<int>, Ints, Ints, List<double>,
    const Where&) = &IndexMap::cells;
// TenonIndexMapGetLayouts
IndexMap::Layouts (IndexMap::* m93)(Ints, const Where&) const = &IndexMap::layouts;
// TenonLinearOpCreateIndexMap
LinearOp (* m94)(const IndexMap&, const Layout&, TenonDataType, const Where&) = &LinearOp::indexMap;
// TenonInitialized
bool (* m95)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m96)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m97)(const Where&) = &tenon::version;
// TenonGetInfo
std::string (* m98)(Text, const Where&) = &tenon::info;
// TenonLayerSetDataType
Layer& (Layer::* m99)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m100)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m101)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m102)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m103)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetUp
void (Layer::* m104)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m105)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m106)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m107)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m108)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m109)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m110)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m111)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m112)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m113)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m114)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerSetTraining
Layer& (Layer::* m115)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetFrozen
Layer& (Layer::* m116)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m117)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerSetTargetWeights
Layer& (Layer::* m118)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonLayerApply
void (Layer::* m119)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m120)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m121)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m121Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m122)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m123)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m124)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m125)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateSequential
Layer (* m126)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m127)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateGraph
Layer (* m128)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphAddNode
int (Layer::* m129)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m130)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m131)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m132)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m133)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m134)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m135)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerCreateFromFile
Layer (* m136)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerSaveNetwork
void (Layer::* m137)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerLoadWeights
void (Layer::* m138)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m139)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayerGetChild
Layer (Layer::* m140)(Text, const Where&) const = &Layer::child;
// TenonLayerGetParameterAt
DTensor (Layer::* m141)(Text, const Where&) const = &Layer::parameter;
// TenonLayerCreateConv
Layer (* m142)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreateAffine
Layer (* m143)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerSetStride
Layer& (Layer::* m144)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetPadding
Layer& (Layer::* m145)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m146)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetOutputLayout
Layer& (Layer::* m147)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerGetTypes
std::string (* m148)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m149)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m150)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayoutCreateSharded
Layout m151(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m152(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreate
Layout m153(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m154)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m155)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m156)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m157)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m158)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m159)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m160)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m161)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m162)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m163)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m164)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m165)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m166)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m167)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m168)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m169)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m170)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m171)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m172)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m173)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m174)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m175)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m176)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpBind
void (LinearOp::* m177)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpUnbind
void (LinearOp::* m178)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m179)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m180)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataTypes
LinearOp::DataTypes (LinearOp::* m181)(const Where&) const = &LinearOp::dataTypes;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m182)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m183)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m184)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m185)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m186)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m187)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreatePrimitive
LinearOp (* m188)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m189)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateCast
LinearOp (* m190)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateComposition
LinearOp (* m191)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m192)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m193)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m194)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m195)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m196)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m197)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m198)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLogEnable
void (* m199)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m200)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m201)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m202)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m203)(double, const Where&) = &tenon::logFlops;
// TenonLogGetWork
LogWork (* m204)(const Where&) = &tenon::logWork;
// TenonLogStagePush
void (* m205)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m206)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m207)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonMachineCreate
Machine m208(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m209)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m210)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m211)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m212)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m213)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m214)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m215)(const Where&) const = &Machine::counts;
// TenonMachineGetLevel
Machine::Level (Machine::* m216)(int, const Where&) const = &Machine::level;
// TenonMachineGetLink
Machine::Link (Machine::* m217)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m218)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m238(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m239)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m240)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m241)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m242)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m243)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m244)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m245)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m246)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m247)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m248)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m249)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m250)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m251)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m252)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m253)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m254)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m255)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m256)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredText
std::string (* m257)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m258)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m259)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m260)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m261)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m262(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m263)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m264)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m265)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m266)(const Where&) const = &Partition::extents;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m267)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m268)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m269)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m270)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m271)(void*, const Where&) = &Partition::setStream;
// TenonPlanCreate
Plan m272(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m273)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetOutput
Plan& (Plan::* m274)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetMachine
Plan& (Plan::* m275)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m276)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m277)(const Where&) = &Plan::search;
// TenonPlanSetUp
void (Plan::* m278)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m279)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m280)(Text, const Where&) = &Plan::load;
// TenonPlanGetNumber
double (Plan::* m281)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerName
std::string (Plan::* m282)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetText
std::string (Plan::* m283)(Text, Text, const Where&) const = &Plan::text;
// TenonPlanReport
void (Plan::* m284)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m285)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m286)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m287)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m288)(const Where&) const = &Plan::inputLayout;
// TenonPlanApply
void (Plan::* m289)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m290)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m291)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m291Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonTrainerCreate
Trainer m292(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m293)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m294)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m295)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m296)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m297)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m298)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m299)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m300)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m301)(const Where&) const = &Trainer::losses;

} // namespace every

template class Object<Trainer, TenonTrainer>;
template class Object<Partition, TenonPartition>;
template class Object<Layout, TenonLayout>;
template class Object<IndexMap, TenonIndexMap>;
template class Object<Edges, TenonEdges>;
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
