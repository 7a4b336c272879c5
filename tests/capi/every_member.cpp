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
// TenonLayerGetExampleRange
Layer::ExampleRange (Layer::* m72)(TenonInt, const Where&) const = &Layer::exampleRange;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m73)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLinearOpCreateAllocate
LinearOp (* m74)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateMemory
LinearOp (* m75)(const Layout&, Text, Ints, Ints, Ints, TenonDataType,
    const Where&) = &LinearOp::memory;
// TenonLinearOpRegister
void (* m76)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonPlacementListCreate
PlacementList m77(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m78)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m79)(TenonInt, Array<TenonInt>, const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetHierarchy
int (PlacementList::* m80)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonReductionProgramsCreate
ReductionPrograms m81(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m82)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m83)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m84)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m85)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m86)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m87)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonFieldSeriesCreate
FieldSeries m88(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m89)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m90)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m91)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonIndexMapCreateFromIds
IndexMap (* m92)(MPI_Comm, TenonInt, Ints, const Where&) = &IndexMap::fromIds;
// TenonIndexMapCreateCells
IndexMap (* m93)(const Layout&, const Layout&, List<int>, Ints, Ints, List<double>,
    const Where&) = &IndexMap::cells;
// TenonIndexMapGetLayouts
IndexMap::Layouts (IndexMap::* m94)(Ints, const Where&) const = &IndexMap::layouts;
// TenonLinearOpCreateIndexMap
LinearOp (* m95)(const IndexMap&, const Layout&, TenonDataType, const Where&) = &LinearOp::indexMap;
// TenonInitialized
bool (* m96)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m97)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m98)(const Where&) = &tenon::version;
// TenonGetInfo
std::string (* m99)(Text, const Where&) = &tenon::info;
// TenonLayerSetDataType
Layer& (Layer::* m100)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m101)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m102)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m103)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m104)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetUp
void (Layer::* m105)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m106)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m107)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m108)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m109)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m110)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m111)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m112)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m113)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m114)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m115)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerSetTraining
Layer& (Layer::* m116)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetFrozen
Layer& (Layer::* m117)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m118)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerSetTargetWeights
Layer& (Layer::* m119)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonLayerApply
void (Layer::* m120)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m121)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m122)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m122Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m123)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m124)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m125)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m126)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateSequential
Layer (* m127)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m128)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateGraph
Layer (* m129)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphAddNode
int (Layer::* m130)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m131)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m132)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m133)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m134)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m135)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m136)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerGetInputCount
int (Layer::* m137)(const Where&) const = &Layer::inputCount;
// TenonLayerGetInputName
std::string (Layer::* m138)(int, const Where&) const = &Layer::inputName;
// TenonLayerGetOutputCount
int (Layer::* m139)(const Where&) const = &Layer::outputCount;
// TenonLayerGetOutputName
std::string (Layer::* m140)(int, const Where&) const = &Layer::outputName;
// TenonLayerGetOutputLayoutAt
Layout (Layer::* m141)(int, const Where&) const = &Layer::outputLayoutAt;
// TenonLayerCreateOutputAt
DTensor (Layer::* m142)(int, const Where&) const = &Layer::createOutputAt;
// TenonLayerCreateOutputCotangentAt
DTensor (Layer::* m143)(int, const Where&) const = &Layer::createOutputCotangentAt;
// TenonLayerApplyAll
void (Layer::* m144)(Handles<TenonDTensor>, Handles<TenonDTensor>, const Where&) = &Layer::applyAll;
// TenonLayerApplyTangentAll
void (Layer::* m145)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyTangentAll;
// TenonLayerApplyAdjointAll
void (Layer::* m146)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointAll;
// TenonLayerCreateFromFile
Layer (* m147)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerCreateFromModel
Layer (* m148)(MPI_Comm, Text, const Where&) = &Layer::fromModel;
// TenonLayerTestModel
void (Layer::* m149)(const Where&) = &Layer::testModel;
// TenonLayerSaveNetwork
void (Layer::* m150)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerLoadWeights
void (Layer::* m151)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m152)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayerGetChild
Layer (Layer::* m153)(Text, const Where&) const = &Layer::child;
// TenonLayerGetParameterAt
DTensor (Layer::* m154)(Text, const Where&) const = &Layer::parameter;
// TenonLayerCreateConv
Layer (* m155)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreateAffine
Layer (* m156)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerCreateColumnMLP
Layer (* m157)(MPI_Comm, Ints, Text, const Where&) = &Layer::columnMLP;
// TenonLayerSetStride
Layer& (Layer::* m158)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetPadding
Layer& (Layer::* m159)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m160)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetOutputLayout
Layer& (Layer::* m161)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerGetTypes
std::string (* m162)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m163)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m164)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayoutCreateSharded
Layout m165(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m166(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreate
Layout m167(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m168)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m169)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m170)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m171)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m172)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m173)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m174)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m175)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m176)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m177)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m178)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m179)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m180)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m181)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m182)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m183)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m184)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m185)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m186)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m187)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m188)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m189)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m190)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpBind
void (LinearOp::* m191)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpUnbind
void (LinearOp::* m192)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m193)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m194)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataTypes
LinearOp::DataTypes (LinearOp::* m195)(const Where&) const = &LinearOp::dataTypes;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m196)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m197)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m198)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m199)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m200)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m201)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreatePrimitive
LinearOp (* m202)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m203)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateCast
LinearOp (* m204)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateComposition
LinearOp (* m205)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m206)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m207)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m208)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m209)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m210)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m211)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m212)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLogEnable
void (* m213)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m214)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m215)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m216)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m217)(double, const Where&) = &tenon::logFlops;
// TenonLogGetWork
LogWork (* m218)(const Where&) = &tenon::logWork;
// TenonLogStagePush
void (* m219)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m220)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m221)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonMachineCreate
Machine m222(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m223)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m224)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m225)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m226)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m227)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m228)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m229)(const Where&) const = &Machine::counts;
// TenonMachineGetLevel
Machine::Level (Machine::* m230)(int, const Where&) const = &Machine::level;
// TenonMachineGetLink
Machine::Link (Machine::* m231)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m232)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m252(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m253)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m254)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m255)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m256)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m257)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m258)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m259)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m260)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m261)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m262)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m263)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m264)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m265)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m266)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m267)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m268)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m269)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m270)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredText
std::string (* m271)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m272)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m273)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m274)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m275)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m276(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m277)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m278)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m279)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m280)(const Where&) const = &Partition::extents;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m281)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m282)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m283)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m284)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m285)(void*, const Where&) = &Partition::setStream;
// TenonPlanCreate
Plan m286(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m287)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetInputAt
Plan& (Plan::* m288)(int, const Layout&, const Where&) = &Plan::setInputAt;
// TenonPlanSetOutput
Plan& (Plan::* m289)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetMachine
Plan& (Plan::* m290)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m291)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m292)(const Where&) = &Plan::search;
// TenonPlanSetUp
void (Plan::* m293)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m294)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m295)(Text, const Where&) = &Plan::load;
// TenonPlanGetNumber
double (Plan::* m296)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerName
std::string (Plan::* m297)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetText
std::string (Plan::* m298)(Text, Text, const Where&) const = &Plan::text;
// TenonPlanReport
void (Plan::* m299)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m300)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m301)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m302)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m303)(const Where&) const = &Plan::inputLayout;
// TenonPlanGetInputLayoutAt
Layout (Plan::* m304)(int, const Where&) const = &Plan::inputLayoutAt;
// TenonPlanApply
void (Plan::* m305)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m306)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m307)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m307Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonTrainerCreate
Trainer m308(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m309)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m310)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m311)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m312)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m313)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m314)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m315)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m316)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m317)(const Where&) const = &Trainer::losses;

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
