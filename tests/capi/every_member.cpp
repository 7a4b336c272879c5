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
// TenonReductionProgramsCreate
ReductionPrograms m83(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
    const Where& where) {
  return ReductionPrograms(list, index, reduce, sizeLimit, where);
}
// TenonReductionProgramsGetCount
TenonInt (ReductionPrograms::* m84)(const Where&) const = &ReductionPrograms::count;
// TenonReductionProgramsGetSize
int (ReductionPrograms::* m85)(TenonInt, const Where&) const = &ReductionPrograms::size;
// TenonReductionProgramsGetText
std::string (ReductionPrograms::* m86)(TenonInt, const Where&) const = &ReductionPrograms::text;
// TenonReductionProgramsGetStep
ReductionPrograms::Step (ReductionPrograms::* m87)(TenonInt, int,
    const Where&) const = &ReductionPrograms::step;
// TenonReductionProgramsGetGroups
std::vector<int> (ReductionPrograms::* m88)(TenonInt, int,
    const Where&) const = &ReductionPrograms::groups;
// TenonReductionProgramsPredict
std::vector<double> (ReductionPrograms::* m89)(const Machine&, TenonReductionAlgorithm, double,
    const Where&) const = &ReductionPrograms::predict;
// TenonFieldSeriesCreate
FieldSeries m90(MPI_Comm comm, Text path, int spatial, const Where& where) {
  return FieldSeries(comm, path, spatial, where);
}
// TenonFieldSeriesSetGrid
FieldSeries& (FieldSeries::* m91)(List<double>, List<double>, const Where&) = &FieldSeries::setGrid;
// TenonFieldSeriesSetMesh
FieldSeries& (FieldSeries::* m92)(const IndexMap&, Text, const IndexMap&, Ints, List<double>,
    const Where&) = &FieldSeries::setMesh;
// TenonFieldSeriesAddTensor
FieldSeries& (FieldSeries::* m93)(const DTensor&, Text, Text,
    const Where&) = &FieldSeries::addTensor;
// TenonFieldSeriesWrite
void (FieldSeries::* m94)(TenonInt, double, const Where&) = &FieldSeries::write;
// TenonIndexMapCreateFromIds
IndexMap (* m95)(MPI_Comm, TenonInt, Ints, const Where&) = &IndexMap::fromIds;
// TenonIndexMapCreateSorted
IndexMap (IndexMap::* m96)(const Where&) const = &IndexMap::sorted;
// TenonIndexMapCreateCells
IndexMap (* m97)(const Layout&, const Layout&, List<int>, Ints, Ints, List<double>,
    const Where&) = &IndexMap::cells;
// TenonIndexMapGetLayouts
IndexMap::Layouts (IndexMap::* m98)(Ints, const Where&) const = &IndexMap::layouts;
// TenonLinearOpCreateIndexMap
LinearOp (* m99)(const IndexMap&, const Layout&, TenonDataType, const Where&) = &LinearOp::indexMap;
// TenonInitialized
bool (* m100)(const Where&) = &tenon::initialized;
// TenonCommFromFortran
MPI_Comm (* m101)(int, const Where&) = &tenon::commFromFortran;
// TenonGetVersion
Version (* m102)(const Where&) = &tenon::version;
// TenonGetInfo
std::string (* m103)(Text, const Where&) = &tenon::info;
// TenonLayerSetDataType
Layer& (Layer::* m104)(TenonDataType, const Where&) = &Layer::setDataType;
// TenonLayerSetSpace
Layer& (Layer::* m105)(TenonMemorySpace, const Where&) = &Layer::setSpace;
// TenonLayerSetStackDepth
Layer& (Layer::* m106)(int, const Where&) = &Layer::setStackDepth;
// TenonLayerSetSignature
Layer& (Layer::* m107)(Text, const Where&) = &Layer::setSignature;
// TenonLayerSetStorage
Layer& (Layer::* m108)(Text, const Where&) = &Layer::setStorage;
// TenonLayerSetUp
void (Layer::* m109)(const Layout&, const Where&) = &Layer::setUp;
// TenonLayerGetOutputLayout
Layout (Layer::* m110)(const Where&) const = &Layer::outputLayout;
// TenonLayerCreateOutput
DTensor (Layer::* m111)(const Where&) const = &Layer::createOutput;
// TenonLayerCreateOutputCotangent
DTensor (Layer::* m112)(const Where&) const = &Layer::createOutputCotangent;
// TenonLayerCreateInputCotangent
DTensor (Layer::* m113)(const Where&) const = &Layer::createInputCotangent;
// TenonLayerInitialize
void (Layer::* m114)(TenonInt, const Where&) = &Layer::initialize;
// TenonLayerGetParameterCount
int (Layer::* m115)(const Where&) const = &Layer::parameterCount;
// TenonLayerGetParameter
DTensor (Layer::* m116)(int, const Where&) const = &Layer::parameter;
// TenonLayerGetParameterGradient
DTensor (Layer::* m117)(int, const Where&) const = &Layer::parameterGradient;
// TenonLayerGetReducedGradient
DTensor (Layer::* m118)(int, const Where&) const = &Layer::reducedGradient;
// TenonLayerGetParameterTangent
DTensor (Layer::* m119)(int, const Where&) const = &Layer::parameterTangent;
// TenonLayerSetTraining
Layer& (Layer::* m120)(bool, const Where&) = &Layer::setTraining;
// TenonLayerSetFrozen
Layer& (Layer::* m121)(bool, const Where&) = &Layer::setFrozen;
// TenonLayerSetTarget
Layer& (Layer::* m122)(const DTensor&, const Where&) = &Layer::setTarget;
// TenonLayerSetTargetWeights
Layer& (Layer::* m123)(const DTensor&, const Where&) = &Layer::setTargetWeights;
// TenonLayerApply
void (Layer::* m124)(const DTensor&, DTensor&, const Where&) = &Layer::apply;
// TenonLayerApplyTangent
void (Layer::* m125)(const DTensor&, DTensor&, const Where&) = &Layer::applyTangent;
// TenonLayerApplyAdjoint
void (Layer::* m126)(const DTensor&, DTensor&, const Where&) = &Layer::applyAdjoint;
void (Layer::* m126Short)(const DTensor&, const Where&) = &Layer::applyAdjoint;
// TenonLayerClearStack
void (Layer::* m127)(const Where&) = &Layer::clearStack;
// TenonLayerZeroGradients
void (Layer::* m128)(const Where&) = &Layer::zeroGradients;
// TenonLayerTestAdjoint
double (Layer::* m129)(const DTensor&, TenonInt, double*, double*,
    const Where&) = &Layer::testAdjoint;
// TenonLayerTestTaylor
double (Layer::* m130)(const DTensor&, TenonInt, double*, const Where&) = &Layer::testTaylor;
// TenonLayerCreateSequential
Layer (* m131)(MPI_Comm, const Where&) = &Layer::sequential;
// TenonLayerSequentialAdd
Layer& (Layer::* m132)(const Layer&, const Where&) = &Layer::add;
// TenonLayerCreateGraph
Layer (* m133)(MPI_Comm, const Where&) = &Layer::graph;
// TenonLayerGraphAddNode
int (Layer::* m134)(const Layer&, List<int>, const Where&) = &Layer::addNode;
// TenonLayerGetBoundaryLayout
Layout (Layer::* m135)(const Layout&, const Where&) const = &Layer::boundaryLayout;
// TenonLayerSetUpMany
void (Layer::* m136)(Handles<TenonLayout>, const Where&) = &Layer::setUpMany;
// TenonLayerCreateInputCotangentAt
DTensor (Layer::* m137)(int, const Where&) const = &Layer::createInputCotangentAt;
// TenonLayerApplyMany
void (Layer::* m138)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyMany;
// TenonLayerApplyTangentMany
void (Layer::* m139)(Handles<TenonDTensor>, DTensor&, const Where&) = &Layer::applyTangentMany;
// TenonLayerApplyAdjointMany
void (Layer::* m140)(const DTensor&, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointMany;
// TenonLayerGetInputCount
int (Layer::* m141)(const Where&) const = &Layer::inputCount;
// TenonLayerGetInputName
std::string (Layer::* m142)(int, const Where&) const = &Layer::inputName;
// TenonLayerGetOutputCount
int (Layer::* m143)(const Where&) const = &Layer::outputCount;
// TenonLayerGetOutputName
std::string (Layer::* m144)(int, const Where&) const = &Layer::outputName;
// TenonLayerGetOutputLayoutAt
Layout (Layer::* m145)(int, const Where&) const = &Layer::outputLayoutAt;
// TenonLayerCreateOutputAt
DTensor (Layer::* m146)(int, const Where&) const = &Layer::createOutputAt;
// TenonLayerCreateOutputCotangentAt
DTensor (Layer::* m147)(int, const Where&) const = &Layer::createOutputCotangentAt;
// TenonLayerApplyAll
void (Layer::* m148)(Handles<TenonDTensor>, Handles<TenonDTensor>, const Where&) = &Layer::applyAll;
// TenonLayerApplyTangentAll
void (Layer::* m149)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyTangentAll;
// TenonLayerApplyAdjointAll
void (Layer::* m150)(Handles<TenonDTensor>, Handles<TenonDTensor>,
    const Where&) = &Layer::applyAdjointAll;
// TenonLayerCreateFromFile
Layer (* m151)(MPI_Comm, Text, const Where&) = &Layer::fromFile;
// TenonLayerCreateFromModel
Layer (* m152)(MPI_Comm, Text, const Where&) = &Layer::fromModel;
// TenonLayerTestModel
void (Layer::* m153)(const Where&) = &Layer::testModel;
// TenonLayerSaveNetwork
void (Layer::* m154)(Text, const Where&) const = &Layer::saveNetwork;
// TenonLayerLoadWeights
void (Layer::* m155)(Text, Text, const Where&) = &Layer::loadWeights;
// TenonLayerSaveWeights
void (Layer::* m156)(Text, const Where&) const = &Layer::saveWeights;
// TenonLayerGetChild
Layer (Layer::* m157)(Text, const Where&) const = &Layer::child;
// TenonLayerGetParameterAt
DTensor (Layer::* m158)(Text, const Where&) const = &Layer::parameter;
// TenonLayerCreateConv
Layer (* m159)(MPI_Comm, TenonInt, TenonInt, Ints, const Where&) = &Layer::conv;
// TenonLayerCreateAffine
Layer (* m160)(MPI_Comm, TenonInt, TenonInt, const Where&) = &Layer::affine;
// TenonLayerCreateColumnMLP
Layer (* m161)(MPI_Comm, Ints, Text, const Where&) = &Layer::columnMLP;
// TenonLayerSetStride
Layer& (Layer::* m162)(Ints, const Where&) = &Layer::setStride;
// TenonLayerSetPadding
Layer& (Layer::* m163)(Ints, Ints, const Where&) = &Layer::setPadding;
// TenonLayerSetBoundary
Layer& (Layer::* m164)(List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setBoundary;
// TenonLayerSetChannelBoundary
Layer& (Layer::* m165)(TenonInt, List<TenonBoundary>, List<TenonBoundary>,
    const Where&) = &Layer::setChannelBoundary;
// TenonLayerSetOutputLayout
Layer& (Layer::* m166)(const Layout&, const Where&) = &Layer::setOutputLayout;
// TenonLayerGetTypes
std::string (* m167)(const Where&) = &Layer::types;
// TenonLayerGetLabels
std::string (Layer::* m168)(Ints, const Where&) const = &Layer::labels;
// TenonLayerGetTypeSignatures
std::string (* m169)(Text, int, const Where&) = &Layer::typeSignatures;
// TenonLayoutCreateSharded
Layout m170(const Partition& partition, Ints shape, Text properties, const Where& where) {
  return Layout(partition, shape, properties, where);
}
// TenonLayoutCreateFromBoxes
Layout m171(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  return Layout(comm, shape, low, high, where);
}
// TenonLayoutCreateStaggered
Layout (Layout::* m172)(Ints, const Where&) const = &Layout::staggered;
// TenonLayoutCreate
Layout m173(const Partition& partition, const Where& where) {
  return Layout(partition, where);
}
// TenonLayoutCreateLike
Layout (Layout::* m174)(const Where&) const = &Layout::like;
// TenonLayoutSetShape
Layout& (Layout::* m175)(Ints, const Where&) = &Layout::setShape;
// TenonLayoutSetProperties
Layout& (Layout::* m176)(Text, const Where&) = &Layout::setProperties;
// TenonLayoutSetSplitOrder
Layout& (Layout::* m177)(int, List<int>, const Where&) = &Layout::setSplitOrder;
// TenonLayoutSetCuts
Layout& (Layout::* m178)(int, Ints, const Where&) = &Layout::setCuts;
// TenonLayoutSetHalo
Layout& (Layout::* m179)(int, TenonInt, TenonInt, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHalo;
// TenonLayoutSetHaloBoxes
Layout& (Layout::* m180)(int, Ints, Ints, TenonBoundary, TenonBoundary,
    const Where&) = &Layout::setHaloBoxes;
// TenonLayoutSetHaloPartial
Layout& (Layout::* m181)(int, bool, const Where&) = &Layout::setHaloPartial;
// TenonLayoutSetUp
void (Layout::* m182)(const Where&) = &Layout::setUp;
// TenonLayoutGetDual
Layout (Layout::* m183)(const Where&) const = &Layout::dual;
// TenonLayoutGetPartition
Partition (Layout::* m184)(const Where&) const = &Layout::partition;
// TenonLayoutGetDim
int (Layout::* m185)(const Where&) const = &Layout::dimensions;
// TenonLayoutGetShape
std::vector<TenonInt> (Layout::* m186)(const Where&) const = &Layout::shape;
// TenonLayoutGetProperties
std::string (Layout::* m187)(const Where&) const = &Layout::properties;
// TenonLayoutGetBox
Box (Layout::* m188)(const Where&) const = &Layout::box;
// TenonLayoutGetOwnedBox
Box (Layout::* m189)(const Where&) const = &Layout::ownedBox;
// TenonLayoutIsActive
bool (Layout::* m190)(const Where&) const = &Layout::isActive;
// TenonLayoutIsEqual
bool (Layout::* m191)(const Layout&, const Where&) const = &Layout::isEqual;
// TenonLinearOpApply
void (LinearOp::* m192)(const DTensor&, DTensor&, const Where&) = &LinearOp::apply;
// TenonLinearOpApplyAdjoint
void (LinearOp::* m193)(const DTensor&, DTensor&, const Where&) = &LinearOp::applyAdjoint;
// TenonLinearOpApplyAdd
void (LinearOp::* m194)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyAdd;
// TenonLinearOpApplyBegin
void (LinearOp::* m195)(double, const DTensor&, double, DTensor&,
    const Where&) = &LinearOp::applyBegin;
// TenonLinearOpApplyEnd
void (LinearOp::* m196)(const Where&) = &LinearOp::applyEnd;
// TenonLinearOpBind
void (LinearOp::* m197)(const DTensor&, const DTensor&, const Where&) = &LinearOp::bind;
// TenonLinearOpUnbind
void (LinearOp::* m198)(const Where&) = &LinearOp::unbind;
// TenonLinearOpGetDomain
Layout (LinearOp::* m199)(const Where&) const = &LinearOp::domain;
// TenonLinearOpGetRange
Layout (LinearOp::* m200)(const Where&) const = &LinearOp::range;
// TenonLinearOpGetDataTypes
LinearOp::DataTypes (LinearOp::* m201)(const Where&) const = &LinearOp::dataTypes;
// TenonLinearOpGetTraffic
LinearOp::Traffic (LinearOp::* m202)(const Where&) const = &LinearOp::traffic;
// TenonLinearOpTestAdjoint
double (LinearOp::* m203)(TenonInt, bool, double*, double*, const Where&) = &LinearOp::testAdjoint;
// TenonLinearOpCreateConversion
LinearOp (* m204)(const Layout&, const Layout&, TenonDataType,
    const Where&) = &LinearOp::conversion;
// TenonLinearOpCreateHalo
LinearOp (* m205)(const Layout&, const Layout&, TenonDataType, const Where&) = &LinearOp::halo;
// TenonLinearOpCreateBoundaryValues
LinearOp (* m206)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryValues;
// TenonLinearOpCreateBoundaryConstant
LinearOp (* m207)(const Layout&, TenonDataType, const Where&) = &LinearOp::boundaryConstant;
// TenonLinearOpCreatePrimitive
LinearOp (* m208)(const Layout&, Text, int, int, TenonDataType,
    const Where&) = &LinearOp::primitive;
// TenonLinearOpCreateSendReceive
LinearOp (* m209)(const Layout&, int, TenonDataType, const Where&) = &LinearOp::sendReceive;
// TenonLinearOpCreateCast
LinearOp (* m210)(const Layout&, TenonDataType, TenonDataType, const Where&) = &LinearOp::cast;
// TenonLinearOpCreateComposition
LinearOp (* m211)(Handles<TenonLinearOp>, const Where&) = &LinearOp::composition;
// TenonLinearOpCreateAdjoint
LinearOp (LinearOp::* m212)(const Where&) const = &LinearOp::adjoint;
// TenonLinearOpCreateSum
LinearOp (* m213)(Handles<TenonLinearOp>, const Where&) = &LinearOp::sum;
// TenonLinearOpCreateScale
LinearOp (* m214)(double, const LinearOp&, const Where&) = &LinearOp::scale;
// TenonLinearOpCreateShell
LinearOp (* m215)(const Layout&, const Layout&, TenonDataType, TenonDataType,
    Function<TenonErrorCode(const DTensor&, DTensor&)>,
    Function<TenonErrorCode(const DTensor&, DTensor&)>, const Where&) = &LinearOp::shell;
// TenonLinearOpCreateType
LinearOp (* m216)(const Layout&, const Layout&, TenonDataType, TenonDataType, Text, void*,
    const Where&) = &LinearOp::ofType;
// TenonLinearOpCreateJacobian
LinearOp (Layer::* m217)(const DTensor&, const Where&) const = &Layer::jacobian;
// TenonLinearOpJacobianSetPoint
LinearOp& (LinearOp::* m218)(const DTensor&, const Where&) = &LinearOp::setPoint;
// TenonLinksCreateFromTiles
Links (* m219)(MPI_Comm, Ints, List<TenonBoundary>, List<TenonBoundary>, Ints,
    const Where&) = &Links::fromTiles;
// TenonLinksCreateFromSides
Links (* m220)(MPI_Comm, int, Ints, List<int>, List<int>, const Where&) = &Links::fromSides;
// TenonLinksGetLayout
Layout (Links::* m221)(Ints, const Where&) const = &Links::layout;
// TenonLayerSetLinks
Layer& (Layer::* m222)(const Links&, const Where&) = &Layer::setLinks;
// TenonLogEnable
void (* m223)(bool, const Where&) = &tenon::logEnable;
// TenonLogEventRegister
int (* m224)(Text, const Where&) = &tenon::logEventRegister;
// TenonLogEventBegin
void (* m225)(int, const Where&) = &tenon::logEventBegin;
// TenonLogEventEnd
void (* m226)(int, const Where&) = &tenon::logEventEnd;
// TenonLogFlops
void (* m227)(double, const Where&) = &tenon::logFlops;
// TenonLogGetWork
LogWork (* m228)(const Where&) = &tenon::logWork;
// TenonLogGetRecords
std::string (* m229)(const Where&) = &tenon::logRecords;
// TenonLogStagePush
void (* m230)(Text, const Where&) = &tenon::logStagePush;
// TenonLogStagePop
void (* m231)(const Where&) = &tenon::logStagePop;
// TenonProgressShow
void (* m232)(Text, TenonInt, TenonInt, Text, double, const Where&) = &tenon::progressShow;
// TenonMachineCreate
Machine m233(Text name, List<const char*> names, Ints sizes, const Where& where) {
  return Machine(name, names, sizes, where);
}
// TenonMachineCreateFromFile
Machine (* m234)(Text, TenonInt, const Where&) = &Machine::fromFile;
// TenonMachineCreateLocal
Machine (* m235)(const Where&) = &Machine::local;
// TenonMachineCreateFromComm
Machine (* m236)(MPI_Comm, const Where&) = &Machine::fromComm;
// TenonMachineMeasure
Machine (* m237)(MPI_Comm, TenonMemorySpace, int, const Where&) = &Machine::measure;
// TenonMachineSave
void (Machine::* m238)(Text, const Where&) const = &Machine::save;
// TenonMachineAddLink
Machine& (Machine::* m239)(Text, int, TenonInt, double, double, TenonLinkRule,
    const Where&) = &Machine::addLink;
// TenonMachineGetCounts
Machine::Counts (Machine::* m240)(const Where&) const = &Machine::counts;
// TenonMachineGetLevel
Machine::Level (Machine::* m241)(int, const Where&) const = &Machine::level;
// TenonMachineGetLink
Machine::Link (Machine::* m242)(int, const Where&) const = &Machine::link;
// TenonMachineGetRanks
std::vector<TenonInt> (Machine::* m243)(const Where&) const = &Machine::ranks;
// TenonOptimizerCreate
Optimizer m263(const Layer& layer, Text type, const Where& where) {
  return Optimizer(layer, type, where);
}
// TenonOptimizerSetLearningRate
Optimizer& (Optimizer::* m264)(double, const Where&) = &Optimizer::setLearningRate;
// TenonOptimizerReport
bool (Optimizer::* m265)(double, const Where&) = &Optimizer::report;
// TenonOptimizerGetLearningRate
double (Optimizer::* m266)(const Where&) const = &Optimizer::learningRate;
// TenonOptimizerClipGradientNorm
double (Optimizer::* m267)(double, const Where&) = &Optimizer::clipGradientNorm;
// TenonOptimizerStep
void (Optimizer::* m268)(const Where&) = &Optimizer::step;
// TenonOptimizerStepClosure
double (Optimizer::* m269)(Function<double(Optimizer&)>, const Where&) = &Optimizer::stepClosure;
// TenonOptimizerGetSteps
TenonInt (Optimizer::* m270)(const Where&) const = &Optimizer::steps;
// TenonOptionsDeclare
void (* m271)(Text, Text, TenonOptionType, Text, Text, Text, const Where&) = &tenon::optionsDeclare;
// TenonOptionsOwnCommandLine
void (* m272)(const Where&) = &tenon::optionsOwnCommandLine;
// TenonOptionsSet
void (* m273)(Text, Text, const Where&) = &tenon::optionsSet;
// TenonOptionsInsertFile
void (* m274)(Text, const Where&) = &tenon::optionsInsertFile;
// TenonOptionsGetFlag
bool (* m275)(Text, Text, const Where&) = &tenon::optionsGetFlag;
// TenonOptionsGetInt
TenonInt (* m276)(Text, Text, const Where&) = &tenon::optionsGetInt;
// TenonOptionsGetIntegers
std::vector<TenonInt> (* m277)(Text, Text, const Where&) = &tenon::optionsGetIntegers;
// TenonOptionsGetReal
double (* m278)(Text, Text, const Where&) = &tenon::optionsGetReal;
// TenonOptionsGetString
std::string (* m279)(Text, Text, const Where&) = &tenon::optionsGetString;
// TenonOptionsHas
bool (* m280)(Text, Text, const Where&) = &tenon::optionsHas;
// TenonOptionsGetDeclaredCount
int (* m281)(const Where&) = &tenon::optionsDeclaredCount;
// TenonOptionsGetDeclaredText
std::string (* m282)(int, TenonOptionText, const Where&) = &tenon::optionsDeclaredText;
// TenonOptionsHelp
void (* m283)(Text, const Where&) = &tenon::optionsHelp;
// TenonSetOutputHandler
void (* m284)(TenonTextHandler, void*, const Where&) = &tenon::setOutputHandler;
// TenonSetErrorOutputHandler
void (* m285)(TenonTextHandler, void*, const Where&) = &tenon::setErrorOutputHandler;
// TenonWriteFile
void (* m286)(Text, std::string_view, const Where&) = &tenon::writeFile;
// TenonPartitionCreate
Partition m287(MPI_Comm comm, List<int> extents, const Where& where) {
  return Partition(comm, extents, where);
}
// TenonPartitionCreateFromRanks
Partition (* m288)(MPI_Comm, List<int>, List<int>, const Where&) = &Partition::fromRanks;
// TenonPartitionCreatePlaced
Partition (* m289)(MPI_Comm, int, int, Ints, const Where&) = &Partition::placed;
// TenonPartitionGetAxes
int (Partition::* m290)(const Where&) const = &Partition::axes;
// TenonPartitionGetExtents
std::vector<int> (Partition::* m291)(const Where&) const = &Partition::extents;
// TenonPartitionGetCoordinates
std::vector<int> (Partition::* m292)(const Where&) const = &Partition::coordinates;
// TenonPartitionGetAxisComm
MPI_Comm (Partition::* m293)(int, const Where&) const = &Partition::axisComm;
// TenonPartitionShareMemory
void (Partition::* m294)(void*, std::size_t, const Where&) = &Partition::shareMemory;
// TenonPartitionUnshareMemory
void (Partition::* m295)(void*, const Where&) = &Partition::unshareMemory;
// TenonPartitionSetStream
Partition& (Partition::* m296)(void*, const Where&) = &Partition::setStream;
// TenonPartitionResetStream
void (Partition::* m297)(const Where&) = &Partition::resetStream;
// TenonPlanCreate
Plan m298(const Layer& network, TenonInt batch, const Where& where) {
  return Plan(network, batch, where);
}
// TenonPlanSetInput
Plan& (Plan::* m299)(const Layout&, const Where&) = &Plan::setInput;
// TenonPlanSetInputAt
Plan& (Plan::* m300)(int, const Layout&, const Where&) = &Plan::setInputAt;
// TenonPlanSetOutput
Plan& (Plan::* m301)(const Layout&, const Where&) = &Plan::setOutput;
// TenonPlanSetMachine
Plan& (Plan::* m302)(const Machine&, const Where&) = &Plan::setMachine;
// TenonPlanFix
void (Plan::* m303)(Text, Text, const Where&) = &Plan::fix;
// TenonPlanSearch
void (Plan::* m304)(const Where&) = &Plan::search;
// TenonPlanSetUp
void (Plan::* m305)(const Where&) = &Plan::setUp;
// TenonPlanSave
void (Plan::* m306)(Text, const Where&) const = &Plan::save;
// TenonPlanLoad
void (Plan::* m307)(Text, const Where&) = &Plan::load;
// TenonPlanGetNumber
double (Plan::* m308)(Text, Text, const Where&) const = &Plan::number;
// TenonPlanGetLayerName
std::string (Plan::* m309)(TenonInt, const Where&) const = &Plan::layerName;
// TenonPlanGetText
std::string (Plan::* m310)(Text, Text, const Where&) const = &Plan::text;
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
// TenonPlanGetInputLayoutAt
Layout (Plan::* m316)(int, const Where&) const = &Plan::inputLayoutAt;
// TenonPlanApply
void (Plan::* m317)(const DTensor&, DTensor&, const Where&) = &Plan::apply;
// TenonPlanApplyTangent
void (Plan::* m318)(const DTensor&, DTensor&, const Where&) = &Plan::applyTangent;
// TenonPlanApplyAdjoint
void (Plan::* m319)(const DTensor&, DTensor&, const Where&) = &Plan::applyAdjoint;
void (Plan::* m319Short)(const DTensor&, const Where&) = &Plan::applyAdjoint;
// TenonTrainerCreate
Trainer m320(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  return Trainer(network, loss, optimizer, where);
}
// TenonTrainerSetDataset
Trainer& (Trainer::* m321)(const Dataset&, const Where&) = &Trainer::setDataset;
// TenonTrainerSetBatches
Trainer& (Trainer::* m322)(TenonInt, const DTensor&, const DTensor&,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)>, const Where&) = &Trainer::setBatches;
// TenonTrainerSetValidation
Trainer& (Trainer::* m323)(const Dataset&, const Where&) = &Trainer::setValidation;
// TenonTrainerSetCallback
Trainer& (Trainer::* m324)(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)>,
    const Where&) = &Trainer::setCallback;
// TenonTrainerSetCheckpoint
Trainer& (Trainer::* m325)(const Checkpoint&, Text, const Where&) = &Trainer::setCheckpoint;
// TenonTrainerRun
void (Trainer::* m326)(TenonInt, const Where&) = &Trainer::run;
// TenonTrainerStop
void (Trainer::* m327)(const Where&) = &Trainer::stop;
// TenonTrainerGetProgress
Trainer::Progress (Trainer::* m328)(const Where&) const = &Trainer::progress;
// TenonTrainerGetLosses
Trainer::Losses (Trainer::* m329)(const Where&) const = &Trainer::losses;

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
