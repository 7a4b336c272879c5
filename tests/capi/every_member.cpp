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
// TenonLayerShellSetFunctions
Layer& (Layer::* m59)(const TenonLayerShellFunctions&, const Where&) = &Layer::shellSetFunctions;
// TenonLayerShellSetContext
Layer& (Layer::* m60)(void*, TenonLayerShellDestroyer, const Where&) = &Layer::shellSetContext;
// TenonLayerShellGetContext
void* (Layer::* m61)(const Where&) const = &Layer::shellContext;
// TenonLayerShellSetLabels
Layer& (Layer::* m62)(Text, const Where&) = &Layer::shellSetLabels;
// TenonLayerShellSetSaved
Layer& (Layer::* m63)(bool, bool, const Where&) = &Layer::shellSetSaved;
// TenonLayerShellAddParameter
Layer& (Layer::* m64)(Text, Ints, TenonInt, TenonInt, const Where&) = &Layer::shellAddParameter;
// TenonLayerShellAddState
Layer& (Layer::* m65)(Text, Ints, double, const Where&) = &Layer::shellAddState;
// TenonLayerShellSetWorkspace
Layer& (Layer::* m66)(TenonInt, const Where&) = &Layer::shellSetWorkspace;
// TenonLayerShellGetValue
Borrowed<DTensor> (Layer::* m67)(int, const Where&) const = &Layer::shellValue;
// TenonLayerShellGetTangent
Borrowed<DTensor> (Layer::* m68)(int, const Where&) const = &Layer::shellTangent;
// TenonLayerShellGetGradient
Borrowed<DTensor> (Layer::* m69)(int, const Where&) const = &Layer::shellGradient;
// TenonLayerShellGetState
Borrowed<DTensor> (Layer::* m70)(int, const Where&) const = &Layer::shellState;
// TenonLayerShellGetWorkspace
void* (Layer::* m71)(const Where&) const = &Layer::shellWorkspace;
// TenonLayerRegister
void (* m72)(Text, TenonLayerCreator, const Where&) = &Layer::registerType;
// TenonLayerSetExample
Layer::SetExampleResult (Layer::* m73)(TenonInt, const Where&) = &Layer::setExample;
// TenonLayerGetExampleRange
Layer::ExampleRange (Layer::* m74)(TenonInt, const Where&) const = &Layer::exampleRange;
// TenonLayerGetExampleShape
std::vector<TenonInt> (Layer::* m75)(TenonInt, int, const Where&) const = &Layer::exampleShape;
// TenonLinearOpCreateAllocate
LinearOp (* m76)(const Layout&, const Layout&, Ints, TenonDataType,
    const Where&) = &LinearOp::allocate;
// TenonLinearOpCreateMemory
LinearOp (* m77)(const Layout&, Text, Ints, Ints, Ints, TenonDataType,
    const Where&) = &LinearOp::memory;
// TenonLinearOpRegister
void (* m78)(Text, const TenonLinearOpFunctions&, const Where&) = &LinearOp::registerType;
// TenonPlacementListCreate
PlacementList m79(Ints system, Ints sizes, const Where& where) {
  return PlacementList(system, sizes, where);
}
// TenonPlacementListGetCount
TenonInt (PlacementList::* m80)(const Where&) const = &PlacementList::count;
// TenonPlacementListGetMatrix
void (PlacementList::* m81)(TenonInt, Array<TenonInt>, const Where&) const = &PlacementList::matrix;
// TenonPlacementListGetHierarchy
int (PlacementList::* m82)(TenonInt, List<int>, Array<TenonInt>,
    const Where&) const = &PlacementList::hierarchy;
// TenonPlacementListAddReduction
PlacementList& (PlacementList::* m83)(List<int>, double,
    const Where&) = &PlacementList::addReduction;
// TenonPlacementListPredict
PlacementList::PredictResult (PlacementList::* m84)(const Machine&, TenonReductionAlgorithm, int,
    const Where&) const = &PlacementList::predict;
// TenonReductionProgramsCreate
ReductionPrograms m85(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m86)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m87)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m88)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m89)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m90)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m91)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonFieldSeriesCreate
FieldSeries m92(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m93)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesSetMesh
FieldSeries& (FieldSeries::* m94)(const IndexMap&, Text, const IndexMap&, Ints, List<double>,
    const Where&) = &FieldSeries::setMesh;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m95)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m96)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonIndexMapCreateFromIds
IndexMap (* m97)(MPI_Comm, TenonInt, Ints, const Where&) = &IndexMap::fromIds;
// TenonIndexMapCreateSorted
IndexMap (IndexMap::* m98)(const Where&) const = &IndexMap::sorted;
// TenonIndexMapCreateCells
IndexMap (* m99)(const Layout&, const Layout&, List<int>, Ints, Ints, List<double>,
    const Where&) = &IndexMap::cells;
// TenonIndexMapGetLayouts
IndexMap::Layouts (IndexMap::* m100)(Ints, const Where&) const = &IndexMap::layouts;
// TenonLinearOpCreateIndexMap
LinearOp (* m101)(const IndexMap&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::indexMap;
// TenonInitialized
bool (* m102)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m103)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m104)(const Where&) = &tenon::version;
// TenonGetInfo
std::string (* m105)(Text, const Where&) = &tenon::info;
// TenonLayerSetDataType
Layer& (Layer::* m106)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m107)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m108)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m109)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m110)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetUp
void (Layer::* m111)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m112)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m113)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m114)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m115)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m116)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m117)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m118)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m119)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m120)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m121)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerGetStateCount
int (Layer::* m122)(const Where&) const = &Layer::stateCount;
// TenonLayerGetState
DTensor (Layer::* m123)(int, const Where&) const = &Layer::state;
// TenonLayerSetTraining
Layer& (Layer::* m124)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetRecording
Layer& (Layer::* m125)(bool, const Where&) = &Layer::setRecording;
// TenonLayerSetFrozen
Layer& (Layer::* m126)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m127)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerSetTargetWeights
Layer& (Layer::* m128)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonLayerApply
void (Layer::* m129)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m130)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m131)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m131Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m132)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m133)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m134)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m135)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateSequential
Layer (* m136)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m137)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateGraph
Layer (* m138)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphAddNode
int (Layer::* m139)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m140)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m141)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m142)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m143)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m144)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m145)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerGetInputCount
int (Layer::* m146)(const Where&) const = &Layer::inputCount;
// TenonLayerGetInputName
std::string (Layer::* m147)(int, const Where&) const = &Layer::inputName;
// TenonLayerGetOutputCount
int (Layer::* m148)(const Where&) const = &Layer::outputCount;
// TenonLayerGetOutputName
std::string (Layer::* m149)(int, const Where&) const = &Layer::outputName;
// TenonLayerGetOutputLayoutAt
Layout (Layer::* m150)(int, const Where&) const = &Layer::outputLayoutAt;
// TenonLayerCreateOutputAt
DTensor (Layer::* m151)(int, const Where&) const = &Layer::createOutputAt;
// TenonLayerCreateOutputCotangentAt
DTensor (Layer::* m152)(int, const Where&) const = &Layer::createOutputCotangentAt;
// TenonLayerApplyAll
void (Layer::* m153)(Handles<TenonDTensor>, Handles<TenonDTensor>, const Where&) = &Layer::applyAll;
// TenonLayerApplyTangentAll
void (Layer::* m154)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyTangentAll;
// TenonLayerApplyAdjointAll
void (Layer::* m155)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointAll;
// TenonLayerCreateFromFile
Layer (* m156)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerCreateFromModel
Layer (* m157)(MPI_Comm, Text, const Where&) = &Layer::fromModel;
// TenonLayerTestModel
void (Layer::* m158)(const Where&) = &Layer::testModel;
// TenonLayerSaveNetwork
void (Layer::* m159)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerLoadWeights
void (Layer::* m160)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m161)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayerGetChild
Layer (Layer::* m162)(Text, const Where&) const = &Layer::child;
// TenonLayerGetChildCount
int (Layer::* m163)(const Where&) const = &Layer::childCount;
// TenonLayerGetChildAt
Layer (Layer::* m164)(int, const Where&) const = &Layer::childAt;
// TenonLayerGetParameterAt
DTensor (Layer::* m165)(Text, const Where&) const = &Layer::parameter;
// TenonLayerCreateConv
Layer (* m166)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreateAffine
Layer (* m167)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerCreateColumnMLP
Layer (* m168)(MPI_Comm, Ints, Text, const Where&) = &Layer::columnMLP;
// TenonLayerCreateCollocate
Layer (* m169)(MPI_Comm, List<TenonFaces>, const Where&) = &Layer::collocate;
// TenonLayerCreateStagger
Layer (* m170)(MPI_Comm, List<TenonFaces>, const Where&) = &Layer::stagger;
// TenonLayerGetSpatialDimensions
int (Layer::* m171)(const Where&) const = &Layer::spatialDimensions;
// TenonLayerSetStride
Layer& (Layer::* m172)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetPadding
Layer& (Layer::* m173)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m174)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetChannelBoundary
Layer& (Layer::* m175)(TenonInt, List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setChannelBoundary;
// TenonLayerSetOutputLayout
Layer& (Layer::* m176)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerGetTypes
std::string (* m177)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m178)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m179)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayoutCreateSharded
Layout m180(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m181(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreateStaggered
Layout (Layout::* m182)(Ints, const Where&) const = &Layout::staggered;
// TenonLayoutCreate
Layout m183(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m184)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m185)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m186)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m187)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m188)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m189)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m190)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m191)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m192)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m193)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m194)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m195)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m196)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m197)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m198)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m199)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m200)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m201)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m202)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m203)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m204)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m205)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m206)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpBind
void (LinearOp::* m207)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpUnbind
void (LinearOp::* m208)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m209)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m210)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataTypes
LinearOp::DataTypes (LinearOp::* m211)(const Where&) const = &LinearOp::dataTypes;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m212)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m213)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m214)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m215)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m216)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m217)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreatePrimitive
LinearOp (* m218)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m219)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateCast
LinearOp (* m220)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateComposition
LinearOp (* m221)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m222)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m223)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m224)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m225)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m226)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m227)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m228)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLinksCreateFromTiles
Links (* m229)(MPI_Comm, Ints, List<TenonBoundary>, List<TenonBoundary>, Ints,
    const Where&) = &Links::fromTiles;
// TenonLinksCreateFromSides
Links (* m230)(MPI_Comm, int, Ints, List<int>, List<int>, const Where&) = &Links::fromSides;
// TenonLinksGetLayout
Layout (Links::* m231)(Ints, const Where&) const = &Links::layout;
// TenonLayerSetLinks
Layer& (Layer::* m232)(const Links&, const Where&) = &Layer::setLinks;
// TenonLogEnable
void (* m233)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m234)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m235)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m236)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m237)(double, const Where&) = &tenon::logFlops;
// TenonLogGetWork
LogWork (* m238)(const Where&) = &tenon::logWork;
// TenonLogGetRecords
std::string (* m239)(const Where&) = &tenon::logRecords;
// TenonLogStagePush
void (* m240)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m241)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m242)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonMachineCreate
Machine m243(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m244)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m245)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m246)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m247)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m248)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m249)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m250)(const Where&) const = &Machine::counts;
// TenonMachineGetLevel
Machine::Level (Machine::* m251)(int, const Where&) const = &Machine::level;
// TenonMachineGetLink
Machine::Link (Machine::* m252)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m253)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m273(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m274)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m275)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m276)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m277)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m278)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m279)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m280)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m281)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m282)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m283)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m284)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m285)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m286)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m287)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m288)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m289)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m290)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m291)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredText
std::string (* m292)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m293)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m294)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m295)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m296)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m297(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m298)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m299)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m300)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m301)(const Where&) const = &Partition::extents;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m302)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m303)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m304)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m305)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m306)(void*, const Where&) = &Partition::setStream;
// TenonPartitionResetStream
void (Partition::* m307)(const Where&) = &Partition::resetStream;
// TenonPlanCreate
Plan m308(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m309)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetInputAt
Plan& (Plan::* m310)(int, const Layout&, const Where&) = &Plan::setInputAt;
// TenonPlanSetOutput
Plan& (Plan::* m311)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetMachine
Plan& (Plan::* m312)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m313)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m314)(const Where&) = &Plan::search;
// TenonPlanSetUp
void (Plan::* m315)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m316)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m317)(Text, const Where&) = &Plan::load;
// TenonPlanGetNumber
double (Plan::* m318)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerName
std::string (Plan::* m319)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetText
std::string (Plan::* m320)(Text, Text, const Where&) const = &Plan::text;
// TenonPlanReport
void (Plan::* m321)(const Where&) = &Plan::report;
// TenonPlanCalibrate
Plan::CalibrateResult (Plan::* m322)(const Where&) = &Plan::calibrate;
// TenonPlanSetRatesFrom
Plan& (Plan::* m323)(const Plan&, const Where&) = &Plan::setRatesFrom;
// TenonPlanGetLayer
Layer (Plan::* m324)(const Where&) const = &Plan::layer;
// TenonPlanGetInputLayout
Layout (Plan::* m325)(const Where&) const = &Plan::inputLayout;
// TenonPlanGetInputLayoutAt
Layout (Plan::* m326)(int, const Where&) const = &Plan::inputLayoutAt;
// TenonPlanApply
void (Plan::* m327)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m328)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m329)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m329Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonTrainerCreate
Trainer m330(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m331)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m332)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m333)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m334)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m335)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m336)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m337)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m338)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m339)(const Where&) const = &Trainer::losses;

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
