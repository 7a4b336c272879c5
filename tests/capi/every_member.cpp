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
Links shareLinks(const Links& x) { return x.share(); }
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
// TenonCheckpointGetContents
std::string (* m17)(Text, const Where&) = &Checkpoint::contents;
// TenonDTensorLoad
void (DTensor::* m18)(Text, Text, const Where&) = &DTensor::load;
// TenonDatasetCreateIDX
Dataset m19(MPI_Comm comm, Text images, Text labels, const Where& where) {
  return Dataset(comm, images, labels, where);
}
// TenonDatasetCreateHDF5
Dataset (* m20)(MPI_Comm, Text, Text, Text, const Where&) = &Dataset::hdf5;
// TenonDatasetGetShape
std::vector<TenonInt> (Dataset::* m21)(const Where&) const = &Dataset::shape;
// TenonDatasetSetUp
void (Dataset::* m22)(const Layout&, const Layout&, const Where&) = &Dataset::setUp;
void (Dataset::* m22Short)(const Layout&, const Where&) = &Dataset::setUp;
// TenonDatasetGetBatchCount
TenonInt (Dataset::* m23)(const Where&) const = &Dataset::batches;
// TenonDatasetGetBatch
void (Dataset::* m24)(TenonInt, TenonInt, DTensor&, DTensor&, const Where&) const = &Dataset::batch;
void (Dataset::* m24Short)(TenonInt, TenonInt, DTensor&, const Where&) const = &Dataset::batch;
// TenonDTensorCreate
DTensor m25(const Layout& layout, TenonDataType type, const Where& where) {
  return DTensor(layout, type, where);
}
// TenonDTensorSetSpace
DTensor& (DTensor::* m26)(TenonMemorySpace, const Where&) = &DTensor::setSpace;
// TenonDTensorGetSpace
TenonMemorySpace (DTensor::* m27)(const Where&) const = &DTensor::space;
// TenonDTensorGatherArrays
void (DTensor::* m28)(const Where&) = &DTensor::gatherArrays;
// TenonDTensorScatterArrays
void (DTensor::* m29)(const Where&) = &DTensor::scatterArrays;
// TenonDTensorSetPrivate
DTensor& (DTensor::* m30)(bool, const Where&) = &DTensor::setPrivate;
// TenonDTensorGetStrides
std::vector<TenonInt> (DTensor::* m31)(const Where&) const = &DTensor::strides;
// TenonDTensorGetLayout
Layout (DTensor::* m32)(const Where&) const = &DTensor::layout;
// TenonDTensorGetDataType
TenonDataType (DTensor::* m33)(const Where&) const = &DTensor::dataType;
// TenonDTensorGetBox
Box (DTensor::* m34)(const Where&) const = &DTensor::box;
// TenonDTensorGetLocalSize
TenonInt (DTensor::* m35)(const Where&) const = &DTensor::localSize;
// TenonDTensorCopy
void (DTensor::* m36)(const DTensor&, const Where&) = &DTensor::copy;
// TenonDTensorAXPBY
void (DTensor::* m37)(double, const DTensor&, double, const Where&) = &DTensor::axpby;
// TenonDTensorScale
void (DTensor::* m38)(double, const Where&) = &DTensor::scale;
// TenonDTensorFillConstant
void (DTensor::* m39)(double, const Where&) = &DTensor::fill;
// TenonDTensorFillUniform
void (DTensor::* m40)(TenonInt, TenonInt, double, double, const Where&) = &DTensor::fillUniform;
// TenonDTensorFillNormal
void (DTensor::* m41)(TenonInt, TenonInt, double, double, const Where&) = &DTensor::fillNormal;
// TenonDTensorNorm
double (DTensor::* m42)(const Where&) const = &DTensor::norm;
// TenonDTensorPairing
double (DTensor::* m43)(const DTensor&, const Where&) const = &DTensor::pairing;
// TenonDTensorMaxAbs
double (DTensor::* m44)(const Where&) const = &DTensor::maxAbs;
// TenonEdgesCreate
Edges m45(const IndexMap& targets, const IndexMap& sources, Ints target, Ints source, Ints keys,
    List<double> weights, const Where& where) {
  return Edges(targets, sources, target, source, keys, weights, where);
}
// TenonEdgesCreateShared
Edges (* m46)(const IndexMap&, const IndexMap&, Ints, Ints, Ints, List<double>, List<double>,
    const Where&) = &Edges::shared;
// TenonEdgesGetLayout
Layout (Edges::* m47)(Ints, const Where&) const = &Edges::layout;
// TenonLayerSetEdges
Layer& (Layer::* m48)(Text, const Edges&, const Where&) = &Layer::setEdges;
// TenonLayerSetIndexMap
Layer& (Layer::* m49)(Text, const IndexMap&, const Where&) = &Layer::setIndexMap;
// TenonLayerCreateMessagePassing
Layer (Layer::* m50)(const Layer&, int, Text, const Where&) const = &Layer::messagePassing;
// TenonErrorString
std::string (* m51)(TenonErrorCode) = &tenon::errorString;
// TenonErrorName
std::string (* m52)(TenonErrorCode) = &tenon::errorName;
// TenonGetLastError
LastError (* m53)(const Where&) = &tenon::lastError;
// TenonGetLastErrorReport
std::string (* m54)(const Where&) = &tenon::lastErrorReport;
// TenonPushErrorHandler
void (* m55)(TenonErrorHandler, void*, const Where&) = &tenon::pushErrorHandler;
// TenonPopErrorHandler
void (* m56)(const Where&) = &tenon::popErrorHandler;
// TenonSetFatalErrorHandler
void (* m57)(TenonErrorHandler, void*, const Where&) = &tenon::setFatalErrorHandler;
// TenonAbort
void (* m58)(TenonErrorCode) = &tenon::abort;
// TenonSetDimensionNote
void (* m59)(Text, const Where&) = &tenon::setDimensionNote;
// TenonLayerShellSetFunctions
Layer& (Layer::* m60)(const TenonLayerShellFunctions&, const Where&) = &Layer::shellSetFunctions;
// TenonLayerShellSetContext
Layer& (Layer::* m61)(void*, TenonLayerShellDestroyer, const Where&) = &Layer::shellSetContext;
// TenonLayerShellGetContext
void* (Layer::* m62)(const Where&) const = &Layer::shellContext;
// TenonLayerShellSetLabels
Layer& (Layer::* m63)(Text, const Where&) = &Layer::shellSetLabels;
// TenonLayerShellSetSaved
Layer& (Layer::* m64)(bool, bool, const Where&) = &Layer::shellSetSaved;
// TenonLayerShellAddParameter
Layer& (Layer::* m65)(Text, Ints, TenonInt, TenonInt, const Where&) = &Layer::shellAddParameter;
// TenonLayerShellAddState
Layer& (Layer::* m66)(Text, Ints, double, const Where&) = &Layer::shellAddState;
// TenonLayerShellSetWorkspace
Layer& (Layer::* m67)(TenonInt, const Where&) = &Layer::shellSetWorkspace;
// TenonLayerShellGetValue
Borrowed<DTensor> (Layer::* m68)(int, const Where&) const = &Layer::shellValue;
// TenonLayerShellGetTangent
Borrowed<DTensor> (Layer::* m69)(int, const Where&) const = &Layer::shellTangent;
// TenonLayerShellGetGradient
Borrowed<DTensor> (Layer::* m70)(int, const Where&) const = &Layer::shellGradient;
// TenonLayerShellGetState
Borrowed<DTensor> (Layer::* m71)(int, const Where&) const = &Layer::shellState;
// TenonLayerShellGetWorkspace
void* (Layer::* m72)(const Where&) const = &Layer::shellWorkspace;
// TenonLayerRegister
void (* m73)(Text, TenonLayerCreator, const Where&) = &Layer::registerType;
// TenonLayerSetExample
Layer::SetExampleResult (Layer::* m74)(TenonInt, const Where&) = &Layer::setExample;
// TenonLayerGetExampleRange
Layer::ExampleRange (Layer::* m75)(TenonInt, const Where&) const = &Layer::exampleRange;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m76)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLinearOpCreateAllocate
LinearOp (* m77)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateMemory
LinearOp (* m78)(const Layout&, Text, Ints, Ints, Ints, TenonDataType,
    const Where&) = &LinearOp::memory;
// TenonLinearOpRegister
void (* m79)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonPlacementListCreate
PlacementList m80(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m81)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m82)(TenonInt, Array<TenonInt>, const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetHierarchy
int (PlacementList::* m83)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonPlacementListAddReduction
PlacementList& (PlacementList::* m84)(List<int>, double,
    const Where&) = &PlacementList::addReduction;
// TenonPlacementListPredict
PlacementList::PredictResult (PlacementList::* m85)(const Machine&, TenonReductionAlgorithm, int,
    const Where&) const = &PlacementList::predict;
// TenonReductionProgramsCreate
ReductionPrograms m86(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m87)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m88)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m89)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m90)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m91)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m92)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonFieldSeriesCreate
FieldSeries m93(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m94)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesSetMesh
FieldSeries& (FieldSeries::* m95)(const IndexMap&, Text, const IndexMap&, Ints, List<double>,
    const Where&) = &FieldSeries::setMesh;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m96)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m97)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonIndexMapCreateFromIds
IndexMap (* m98)(MPI_Comm, TenonInt, Ints, const Where&) = &IndexMap::fromIds;
// TenonIndexMapCreateSorted
IndexMap (IndexMap::* m99)(const Where&) const = &IndexMap::sorted;
// TenonIndexMapCreateCells
IndexMap (* m100)(const Layout&, const Layout&, List<int>, Ints, Ints, List<double>,
    const Where&) = &IndexMap::cells;
// TenonIndexMapGetLayouts
IndexMap::Layouts (IndexMap::* m101)(Ints, const Where&) const = &IndexMap::layouts;
// TenonLinearOpCreateIndexMap
LinearOp (* m102)(const IndexMap&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::indexMap;
// TenonInitialized
bool (* m103)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m104)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m105)(const Where&) = &tenon::version;
// TenonGetInfo
std::string (* m106)(Text, const Where&) = &tenon::info;
// TenonLayerSetDataType
Layer& (Layer::* m107)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m108)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m109)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m110)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m111)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetUp
void (Layer::* m112)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m113)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m114)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m115)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m116)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m117)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m118)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m119)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m120)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m121)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m122)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerGetStateCount
int (Layer::* m123)(const Where&) const = &Layer::stateCount;
// TenonLayerGetState
DTensor (Layer::* m124)(int, const Where&) const = &Layer::state;
// TenonLayerSetTraining
Layer& (Layer::* m125)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetRecording
Layer& (Layer::* m126)(bool, const Where&) = &Layer::setRecording;
// TenonLayerSetFrozen
Layer& (Layer::* m127)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m128)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerSetTargetWeights
Layer& (Layer::* m129)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonLayerApply
void (Layer::* m130)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m131)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m132)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m132Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m133)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m134)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m135)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m136)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateSequential
Layer (* m137)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m138)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateGraph
Layer (* m139)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphAddNode
int (Layer::* m140)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m141)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m142)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m143)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m144)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m145)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m146)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerGetInputCount
int (Layer::* m147)(const Where&) const = &Layer::inputCount;
// TenonLayerGetInputName
std::string (Layer::* m148)(int, const Where&) const = &Layer::inputName;
// TenonLayerGetOutputCount
int (Layer::* m149)(const Where&) const = &Layer::outputCount;
// TenonLayerGetOutputName
std::string (Layer::* m150)(int, const Where&) const = &Layer::outputName;
// TenonLayerGetOutputLayoutAt
Layout (Layer::* m151)(int, const Where&) const = &Layer::outputLayoutAt;
// TenonLayerCreateOutputAt
DTensor (Layer::* m152)(int, const Where&) const = &Layer::createOutputAt;
// TenonLayerCreateOutputCotangentAt
DTensor (Layer::* m153)(int, const Where&) const = &Layer::createOutputCotangentAt;
// TenonLayerApplyAll
void (Layer::* m154)(Handles<TenonDTensor>, Handles<TenonDTensor>, const Where&) = &Layer::applyAll;
// TenonLayerApplyTangentAll
void (Layer::* m155)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyTangentAll;
// TenonLayerApplyAdjointAll
void (Layer::* m156)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointAll;
// TenonLayerCreateFromFile
Layer (* m157)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerCreateFromModel
Layer (* m158)(MPI_Comm, Text, const Where&) = &Layer::fromModel;
// TenonLayerTestModel
void (Layer::* m159)(const Where&) = &Layer::testModel;
// TenonLayerSaveNetwork
void (Layer::* m160)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerLoadWeights
void (Layer::* m161)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m162)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayerGetChild
Layer (Layer::* m163)(Text, const Where&) const = &Layer::child;
// TenonLayerGetChildCount
int (Layer::* m164)(const Where&) const = &Layer::childCount;
// TenonLayerGetChildAt
Layer (Layer::* m165)(int, const Where&) const = &Layer::childAt;
// TenonLayerGetParameterAt
DTensor (Layer::* m166)(Text, const Where&) const = &Layer::parameter;
// TenonLayerCreateConv
Layer (* m167)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreateAffine
Layer (* m168)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerCreateColumnMLP
Layer (* m169)(MPI_Comm, Ints, Text, const Where&) = &Layer::columnMLP;
// TenonLayerCreateCollocate
Layer (* m170)(MPI_Comm, List<TenonFaces>, const Where&) = &Layer::collocate;
// TenonLayerCreateStagger
Layer (* m171)(MPI_Comm, List<TenonFaces>, const Where&) = &Layer::stagger;
// TenonLayerGetSpatialDimensions
int (Layer::* m172)(const Where&) const = &Layer::spatialDimensions;
// TenonLayerSetStride
Layer& (Layer::* m173)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetPadding
Layer& (Layer::* m174)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m175)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetChannelBoundary
Layer& (Layer::* m176)(TenonInt, List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setChannelBoundary;
// TenonLayerSetOutputLayout
Layer& (Layer::* m177)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerGetTypes
std::string (* m178)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m179)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m180)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayoutCreateSharded
Layout m181(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m182(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreateStaggered
Layout (Layout::* m183)(Ints, const Where&) const = &Layout::staggered;
// TenonLayoutCreate
Layout m184(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m185)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m186)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m187)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m188)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m189)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m190)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m191)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m192)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m193)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m194)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m195)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m196)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m197)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m198)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m199)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m200)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m201)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m202)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m203)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m204)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m205)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m206)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m207)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpBind
void (LinearOp::* m208)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpUnbind
void (LinearOp::* m209)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m210)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m211)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataTypes
LinearOp::DataTypes (LinearOp::* m212)(const Where&) const = &LinearOp::dataTypes;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m213)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m214)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m215)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m216)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m217)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m218)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreatePrimitive
LinearOp (* m219)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m220)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateCast
LinearOp (* m221)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateComposition
LinearOp (* m222)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m223)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m224)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m225)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m226)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m227)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m228)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m229)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLinksCreateFromTiles
Links (* m230)(MPI_Comm, Ints, List<TenonBoundary>, List<TenonBoundary>, Ints,
    const Where&) = &Links::fromTiles;
// TenonLinksCreateFromSides
Links (* m231)(MPI_Comm, int, Ints, List<int>, List<int>, const Where&) = &Links::fromSides;
// TenonLinksGetLayout
Layout (Links::* m232)(Ints, const Where&) const = &Links::layout;
// TenonLayerSetLinks
Layer& (Layer::* m233)(const Links&, const Where&) = &Layer::setLinks;
// TenonLogEnable
void (* m234)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m235)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m236)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m237)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m238)(double, const Where&) = &tenon::logFlops;
// TenonLogGetWork
LogWork (* m239)(const Where&) = &tenon::logWork;
// TenonLogGetRecords
std::string (* m240)(const Where&) = &tenon::logRecords;
// TenonLogStagePush
void (* m241)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m242)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m243)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonMachineCreate
Machine m244(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m245)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m246)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m247)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m248)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m249)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m250)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m251)(const Where&) const = &Machine::counts;
// TenonMachineGetLevel
Machine::Level (Machine::* m252)(int, const Where&) const = &Machine::level;
// TenonMachineGetLink
Machine::Link (Machine::* m253)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m254)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m274(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m275)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m276)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m277)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m278)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m279)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m280)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m281)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m282)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m283)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m284)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m285)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m286)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m287)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m288)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m289)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m290)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m291)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m292)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredText
std::string (* m293)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m294)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m295)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m296)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m297)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m298(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m299)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m300)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m301)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m302)(const Where&) const = &Partition::extents;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m303)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m304)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m305)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m306)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m307)(void*, const Where&) = &Partition::setStream;
// TenonPartitionResetStream
void (Partition::* m308)(const Where&) = &Partition::resetStream;
// TenonPlanCreate
Plan m309(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m310)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetInputAt
Plan& (Plan::* m311)(int, const Layout&, const Where&) = &Plan::setInputAt;
// TenonPlanSetOutput
Plan& (Plan::* m312)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetMachine
Plan& (Plan::* m313)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m314)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m315)(const Where&) = &Plan::search;
// TenonPlanSetUp
void (Plan::* m316)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m317)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m318)(Text, const Where&) = &Plan::load;
// TenonPlanGetNumber
double (Plan::* m319)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerName
std::string (Plan::* m320)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetText
std::string (Plan::* m321)(Text, Text, const Where&) const = &Plan::text;
// TenonPlanReport
void (Plan::* m322)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m323)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m324)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m325)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m326)(const Where&) const = &Plan::inputLayout;
// TenonPlanGetInputLayoutAt
Layout (Plan::* m327)(int, const Where&) const = &Plan::inputLayoutAt;
// TenonPlanApply
void (Plan::* m328)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m329)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m330)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m330Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonTrainerCreate
Trainer m331(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m332)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m333)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m334)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m335)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m336)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m337)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m338)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m339)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m340)(const Where&) const = &Trainer::losses;

} // namespace every

template class Object<Trainer, TenonTrainer>;
template class Object<Partition, TenonPartition>;
template class Object<Layout, TenonLayout>;
template class Object<IndexMap, TenonIndexMap>;
template class Object<Edges, TenonEdges>;
template class Object<Links, TenonLinks>;
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
