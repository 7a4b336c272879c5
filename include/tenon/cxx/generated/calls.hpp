// SPDX-License-Identifier: BSD-2-Clause
// Made by src/interfaces/cxx/generate.py from the public headers. Do not edit.
// clang-format off
/** @file
 *  @brief Part of tenon.hpp: the bodies of the members. */
#ifndef TENON_CXX_GENERATED_CALLS_HPP
#define TENON_CXX_GENERATED_CALLS_HPP

#include <tenon/cxx/generated/classes.hpp>

#include <utility>

namespace tenon {

inline Checkpoint::Checkpoint(MPI_Comm comm, const Where& where) {
  detail::Call(where).check(TenonCheckpointCreate(comm, out()));
}
inline Checkpoint& Checkpoint::addLayer(const Layer& layer, Text name, const Where& where) {
  detail::Call(where).check(TenonCheckpointAddLayer(get(), layer.get(), name.get()));
  return *this;
}
inline Checkpoint& Checkpoint::addOptimizer(const Optimizer& optimizer, Text name,
    const Where& where) {
  detail::Call(where).check(TenonCheckpointAddOptimizer(get(), optimizer.get(), name.get()));
  return *this;
}
inline Checkpoint& Checkpoint::addTensor(const DTensor& tensor, Text name, const Where& where) {
  detail::Call(where).check(TenonCheckpointAddTensor(get(), tensor.get(), name.get()));
  return *this;
}
inline Checkpoint& Checkpoint::setIntEntry(Text key, TenonInt value, const Where& where) {
  detail::Call(where).check(TenonCheckpointSetInt(get(), key.get(), value));
  return *this;
}
inline Checkpoint& Checkpoint::setRealEntry(Text key, double value, const Where& where) {
  detail::Call(where).check(TenonCheckpointSetReal(get(), key.get(), value));
  return *this;
}
inline Checkpoint& Checkpoint::setStringEntry(Text key, Text value, const Where& where) {
  detail::Call(where).check(TenonCheckpointSetString(get(), key.get(), value.get()));
  return *this;
}
inline TenonInt Checkpoint::intEntry(Text key, const Where& where) const {
  TenonInt value{};
  detail::Call(where).check(TenonCheckpointGetInt(get(), key.get(), &value));
  return value;
}
inline double Checkpoint::realEntry(Text key, const Where& where) const {
  double value{};
  detail::Call(where).check(TenonCheckpointGetReal(get(), key.get(), &value));
  return value;
}
inline std::string Checkpoint::stringEntry(Text key, const Where& where) const {
  detail::TextBuffer text;
  detail::Call(where).check(TenonCheckpointGetString(get(), key.get(), nullptr, 0, text.needed()));
  detail::Call(where).check(TenonCheckpointGetString(get(), key.get(), text.allocate(),
      text.length(), nullptr));
  return text.take();
}
inline void Checkpoint::write(Text path, const Where& where) {
  detail::Call(where).check(TenonCheckpointWrite(get(), path.get()));
}
inline void Checkpoint::writeStep(Text folder, TenonInt step, const Where& where) {
  detail::Call(where).check(TenonCheckpointWriteStep(get(), folder.get(), step));
}
inline void Checkpoint::read(Text path, const Where& where) {
  detail::Call(where).check(TenonCheckpointRead(get(), path.get()));
}
inline TenonInt Checkpoint::readLatest(Text folder, const Where& where) {
  TenonInt step{};
  detail::Call(where).check(TenonCheckpointReadLatest(get(), folder.get(), &step));
  return step;
}
inline void Checkpoint::onSignal(int signal, const Where& where) {
  detail::Call(where).check(TenonCheckpointOnSignal(get(), signal));
}
inline int Checkpoint::signal(const Where& where) const {
  int signal{};
  detail::Call(where).check(TenonCheckpointGetSignal(get(), &signal));
  return signal;
}
inline void Checkpoint::viewFile(Text path, const Where& where) {
  detail::Call(where).check(TenonCheckpointViewFile(path.get()));
}
inline std::string Checkpoint::contents(Text path, const Where& where) {
  detail::TextBuffer text;
  detail::Call(where).check(TenonCheckpointGetContents(path.get(), nullptr, 0, text.needed()));
  detail::Call(where).check(TenonCheckpointGetContents(path.get(), text.allocate(), text.length(),
      nullptr));
  return text.take();
}
inline void DTensor::load(Text path, Text dataset, const Where& where) {
  detail::Call(where).check(TenonDTensorLoad(get(), path.get(), dataset.get()));
}
inline Dataset::Dataset(MPI_Comm comm, Text images, Text labels, const Where& where) {
  detail::Call(where).check(TenonDatasetCreateIDX(comm, images.get(), labels.get(), out()));
}
inline Dataset Dataset::hdf5(MPI_Comm comm, Text path, Text data, Text labels, const Where& where) {
  Dataset dataset;
  detail::Call(where).check(TenonDatasetCreateHDF5(comm, path.get(), data.get(), labels.get(),
      dataset.out()));
  return dataset;
}
inline std::vector<TenonInt> Dataset::shape(const Where& where) const {
  int ndim = 0;
  detail::Call(where).check(TenonDatasetGetShape(get(), 0, nullptr, &ndim));
  std::vector<TenonInt> shape(detail::size(ndim));
  detail::Call(where).check(TenonDatasetGetShape(get(), ndim, shape.data(), nullptr));
  return shape;
}
inline void Dataset::setUp(const Layout& x, const Layout& labels, const Where& where) {
  detail::Call(where).check(TenonDatasetSetUp(get(), x.get(), labels.get()));
}
inline void Dataset::setUp(const Layout& x, const Where& where) {
  detail::Call(where).check(TenonDatasetSetUp(get(), x.get(), nullptr));
}
inline TenonInt Dataset::batches(const Where& where) const {
  TenonInt count{};
  detail::Call(where).check(TenonDatasetGetBatchCount(get(), &count));
  return count;
}
inline void Dataset::batch(TenonInt epoch, TenonInt batch, DTensor& x, DTensor& labels,
    const Where& where) const {
  detail::Call(where).check(TenonDatasetGetBatch(get(), epoch, batch, x.get(), labels.get()));
}
inline void Dataset::batch(TenonInt epoch, TenonInt batch, DTensor& x, const Where& where) const {
  detail::Call(where).check(TenonDatasetGetBatch(get(), epoch, batch, x.get(), nullptr));
}
inline DTensor::DTensor(const Layout& layout, TenonDataType type, const Where& where) {
  detail::Call(where).check(TenonDTensorCreate(layout.get(), type, out()));
}
inline DTensor& DTensor::setSpace(TenonMemorySpace space, const Where& where) {
  detail::Call(where).check(TenonDTensorSetSpace(get(), space));
  return *this;
}
inline TenonMemorySpace DTensor::space(const Where& where) const {
  TenonMemorySpace space{};
  detail::Call(where).check(TenonDTensorGetSpace(get(), &space));
  return space;
}
inline void DTensor::gatherArrays(const Where& where) {
  detail::Call(where).check(TenonDTensorGatherArrays(get()));
}
inline void DTensor::scatterArrays(const Where& where) {
  detail::Call(where).check(TenonDTensorScatterArrays(get()));
}
inline DTensor& DTensor::setPrivate(bool isPrivate, const Where& where) {
  detail::Call(where).check(TenonDTensorSetPrivate(get(), detail::truth(isPrivate)));
  return *this;
}
inline std::vector<TenonInt> DTensor::strides(const Where& where) const {
  std::vector<TenonInt> strides(detail::size(this->layout(where).dimensions(where)));
  detail::Call(where).check(TenonDTensorGetStrides(get(), strides.data()));
  return strides;
}
inline Layout DTensor::layout(const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonDTensorGetLayout(get(), layout.out()));
  return layout;
}
inline TenonDataType DTensor::dataType(const Where& where) const {
  TenonDataType type{};
  detail::Call(where).check(TenonDTensorGetDataType(get(), &type));
  return type;
}
inline Box DTensor::box(const Where& where) const {
  std::vector<TenonInt> low(detail::size(this->layout(where).dimensions(where)));
  std::vector<TenonInt> high(detail::size(this->layout(where).dimensions(where)));
  detail::Call(where).check(TenonDTensorGetBox(get(), low.data(), high.data()));
  return {std::move(low), std::move(high)};
}
inline TenonInt DTensor::localSize(const Where& where) const {
  TenonInt elements{};
  detail::Call(where).check(TenonDTensorGetLocalSize(get(), &elements));
  return elements;
}
inline void DTensor::copy(const DTensor& x, const Where& where) {
  detail::Call(where).check(TenonDTensorCopy(x.get(), get()));
}
inline void DTensor::axpby(double alpha, const DTensor& x, double beta, const Where& where) {
  detail::Call(where).check(TenonDTensorAXPBY(alpha, x.get(), beta, get()));
}
inline void DTensor::scale(double factor, const Where& where) {
  detail::Call(where).check(TenonDTensorScale(factor, get()));
}
inline void DTensor::fill(double value, const Where& where) {
  detail::Call(where).check(TenonDTensorFillConstant(get(), value));
}
inline void DTensor::fillUniform(TenonInt seed, TenonInt stream, double low, double high,
    const Where& where) {
  detail::Call(where).check(TenonDTensorFillUniform(get(), seed, stream, low, high));
}
inline void DTensor::fillNormal(TenonInt seed, TenonInt stream, double mean, double deviation,
    const Where& where) {
  detail::Call(where).check(TenonDTensorFillNormal(get(), seed, stream, mean, deviation));
}
inline double DTensor::norm(const Where& where) const {
  double norm{};
  detail::Call(where).check(TenonDTensorNorm(get(), &norm));
  return norm;
}
inline double DTensor::pairing(const DTensor& y, const Where& where) const {
  double pairing{};
  detail::Call(where).check(TenonDTensorPairing(get(), y.get(), &pairing));
  return pairing;
}
inline double DTensor::maxAbs(const Where& where) const {
  double value{};
  detail::Call(where).check(TenonDTensorMaxAbs(get(), &value));
  return value;
}
inline Edges::Edges(const IndexMap& targets, const IndexMap& sources, Ints target, Ints source,
    Ints keys, List<double> weights, const Where& where) {
  detail::checkLength("tenon::Edges: source", source.size(), target.size());
  detail::checkAnyLength("tenon::Edges: keys", keys.size(), target.size());
  detail::checkAnyLength("tenon::Edges: weights", weights.size(), target.size());
  detail::Call(where).check(TenonEdgesCreate(targets.get(), sources.get(),
      static_cast<TenonInt>(target.size()), target.data(), source.data(), detail::orNull(keys),
      detail::orNull(weights), out()));
}
inline Edges Edges::shared(const IndexMap& targets, const IndexMap& sources, Ints target,
    Ints source, Ints keys, List<double> shares, List<double> weights, const Where& where) {
  detail::checkLength("tenon::Edges::shared: source", source.size(), target.size());
  detail::checkLength("tenon::Edges::shared: keys", keys.size(), target.size());
  detail::checkAnyLength("tenon::Edges::shared: shares", shares.size(), target.size());
  detail::checkAnyLength("tenon::Edges::shared: weights", weights.size(), target.size());
  Edges edges;
  detail::Call(where).check(TenonEdgesCreateShared(targets.get(), sources.get(),
      static_cast<TenonInt>(target.size()), target.data(), source.data(), keys.data(),
      detail::orNull(shares), detail::orNull(weights), edges.out()));
  return edges;
}
inline Layout Edges::layout(Ints shape, const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonEdgesGetLayout(get(), static_cast<int>(shape.size()), shape.data(),
      layout.out()));
  return layout;
}
inline Layer& Layer::setEdges(Text name, const Edges& edges, const Where& where) {
  detail::Call(where).check(TenonLayerSetEdges(get(), name.get(), edges.get()));
  return *this;
}
inline Layer& Layer::setIndexMap(Text name, const IndexMap& map, const Where& where) {
  detail::Call(where).check(TenonLayerSetIndexMap(get(), name.get(), map.get()));
  return *this;
}
inline Layer Layer::messagePassing(const Layer& nodeNetwork, int inputs, Text aggregation,
    const Where& where) const {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateMessagePassing(get(), nodeNetwork.get(), inputs,
      aggregation.get(), layer.out()));
  return layer;
}
inline std::string errorString(TenonErrorCode code) {
  return TenonErrorString(code);
}
inline std::string errorName(TenonErrorCode code) {
  return TenonErrorName(code);
}
inline LastError lastError(const Where& where) {
  TenonErrorCode code{};
  detail::TextBuffer message;
  detail::Call(where).check(TenonGetLastError(&code, nullptr, 0, message.needed()));
  detail::Call(where).check(TenonGetLastError(&code, message.allocate(), message.length(),
      nullptr));
  return {code, message.take()};
}
inline std::string lastErrorReport(const Where& where) {
  detail::TextBuffer report;
  detail::Call(where).check(TenonGetLastErrorReport(nullptr, 0, report.needed()));
  detail::Call(where).check(TenonGetLastErrorReport(report.allocate(), report.length(), nullptr));
  return report.take();
}
inline void pushErrorHandler(TenonErrorHandler handler, void* context, const Where& where) {
  detail::Call(where).check(TenonPushErrorHandler(handler, context));
}
inline void popErrorHandler(const Where& where) {
  detail::Call(where).check(TenonPopErrorHandler());
}
inline void setFatalErrorHandler(TenonErrorHandler handler, void* context, const Where& where) {
  detail::Call(where).check(TenonSetFatalErrorHandler(handler, context));
}
inline void abort(TenonErrorCode code) {
  TenonAbort(code);
}
inline void setDimensionNote(Text note, const Where& where) {
  detail::Call(where).check(TenonSetDimensionNote(note.get()));
}
inline Layer& Layer::shellSetFunctions(const TenonLayerShellFunctions& functions,
    const Where& where) {
  detail::Call(where).check(TenonLayerShellSetFunctions(get(), &functions));
  return *this;
}
inline Layer& Layer::shellSetContext(void* context, TenonLayerShellDestroyer destroy,
    const Where& where) {
  detail::Call(where).check(TenonLayerShellSetContext(get(), context, destroy));
  return *this;
}
inline void* Layer::shellContext(const Where& where) const {
  void* context = nullptr;
  detail::Call(where).check(TenonLayerShellGetContext(get(), &context));
  return context;
}
inline Layer& Layer::shellSetLabels(Text labels, const Where& where) {
  detail::Call(where).check(TenonLayerShellSetLabels(get(), labels.get()));
  return *this;
}
inline Layer& Layer::shellSetSaved(bool input, bool output, const Where& where) {
  detail::Call(where).check(TenonLayerShellSetSaved(get(), detail::truth(input),
      detail::truth(output)));
  return *this;
}
inline Layer& Layer::shellAddParameter(Text name, Ints shape, TenonInt fanIn, TenonInt fanOut,
    const Where& where) {
  detail::Call(where).check(TenonLayerShellAddParameter(get(), name.get(),
      static_cast<int>(shape.size()), shape.data(), fanIn, fanOut));
  return *this;
}
inline Layer& Layer::shellAddState(Text name, Ints shape, double initial, const Where& where) {
  detail::Call(where).check(TenonLayerShellAddState(get(), name.get(),
      static_cast<int>(shape.size()), shape.data(), initial));
  return *this;
}
inline Layer& Layer::shellSetWorkspace(TenonInt bytes, const Where& where) {
  detail::Call(where).check(TenonLayerShellSetWorkspace(get(), bytes));
  return *this;
}
inline Borrowed<DTensor> Layer::shellValue(int index, const Where& where) const {
  TenonDTensor value = nullptr;
  detail::Call(where).check(TenonLayerShellGetValue(get(), index, &value));
  return Borrowed<DTensor>(value);
}
inline Borrowed<DTensor> Layer::shellTangent(int index, const Where& where) const {
  TenonDTensor tangent = nullptr;
  detail::Call(where).check(TenonLayerShellGetTangent(get(), index, &tangent));
  return Borrowed<DTensor>(tangent);
}
inline Borrowed<DTensor> Layer::shellGradient(int index, const Where& where) const {
  TenonDTensor gradient = nullptr;
  detail::Call(where).check(TenonLayerShellGetGradient(get(), index, &gradient));
  return Borrowed<DTensor>(gradient);
}
inline Borrowed<DTensor> Layer::shellState(int index, const Where& where) const {
  TenonDTensor state = nullptr;
  detail::Call(where).check(TenonLayerShellGetState(get(), index, &state));
  return Borrowed<DTensor>(state);
}
inline void* Layer::shellWorkspace(const Where& where) const {
  void* workspace = nullptr;
  detail::Call(where).check(TenonLayerShellGetWorkspace(get(), &workspace));
  return workspace;
}
inline void Layer::registerType(Text name, TenonLayerCreator create, const Where& where) {
  detail::Call(where).check(TenonLayerRegister(name.get(), create));
}
inline Layer::SetExampleResult Layer::setExample(TenonInt seed, const Where& where) {
  int inputs{};
  TenonInt classes{};
  detail::Call(where).check(TenonLayerSetExample(get(), seed, &inputs, &classes));
  return {inputs, classes};
}
inline Layer::ExampleRange Layer::exampleRange(TenonInt seed, const Where& where) const {
  double low{};
  double high{};
  detail::Call(where).check(TenonLayerGetExampleRange(get(), seed, &low, &high));
  return {low, high};
}
inline std::vector<TenonInt> Layer::exampleShape(TenonInt seed, int tensor,
    const Where& where) const {
  int ndim = 0;
  detail::Call(where).check(TenonLayerGetExampleShape(get(), seed, tensor, 0, nullptr, &ndim));
  std::vector<TenonInt> shape(detail::size(ndim));
  detail::Call(where).check(TenonLayerGetExampleShape(get(), seed, tensor, ndim, shape.data(),
      nullptr));
  return shape;
}
inline LinearOp LinearOp::allocate(const Layout& from, const Layout& to, Ints at,
    TenonDataType type, const Where& where) {
  detail::checkLength("tenon::LinearOp::allocate: at", at.size(),
      detail::size(from.dimensions(where)));
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateAllocate(from.get(), to.get(), at.data(), type,
      op.out()));
  return op;
}
inline LinearOp LinearOp::memory(const Layout& layout, Text name, Ints low, Ints high, Ints to,
    TenonDataType type, const Where& where) {
  detail::checkLength("tenon::LinearOp::memory: low", low.size(),
      detail::size(layout.dimensions(where)));
  detail::checkLength("tenon::LinearOp::memory: high", high.size(),
      detail::size(layout.dimensions(where)));
  detail::checkAnyLength("tenon::LinearOp::memory: to", to.size(),
      detail::size(layout.dimensions(where)));
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateMemory(layout.get(), name.get(), low.data(),
      high.data(), detail::orNull(to), type, op.out()));
  return op;
}
inline void LinearOp::registerType(Text name, const TenonLinearOpFunctions& functions,
    const Where& where) {
  detail::Call(where).check(TenonLinearOpRegister(name.get(), &functions));
}
inline PlacementList::PlacementList(Ints system, Ints sizes, const Where& where) {
  detail::Call(where).check(TenonPlacementListCreate(static_cast<int>(system.size()), system.data(),
      static_cast<int>(sizes.size()), sizes.data(), out()));
}
inline TenonInt PlacementList::count(const Where& where) const {
  TenonInt count{};
  detail::Call(where).check(TenonPlacementListGetCount(get(), &count));
  return count;
}
inline void PlacementList::matrix(TenonInt index, Array<TenonInt> matrix,
    const Where& where) const {
  detail::Call(where).check(TenonPlacementListGetMatrix(get(), index, matrix.data()));
}
inline int PlacementList::hierarchy(TenonInt index, List<int> reduce, Array<TenonInt> hierarchy,
    const Where& where) const {
  int levels{};
  detail::Call(where).check(TenonPlacementListGetHierarchy(get(), index,
      static_cast<int>(reduce.size()), reduce.data(), &levels, hierarchy.data()));
  return levels;
}
inline PlacementList& PlacementList::addReduction(List<int> reduce, double bytes,
    const Where& where) {
  detail::Call(where).check(TenonPlacementListAddReduction(get(), static_cast<int>(reduce.size()),
      reduce.data(), bytes));
  return *this;
}
inline PlacementList::PredictResult PlacementList::predict(const Machine& machine,
    TenonReductionAlgorithm algorithm, int sizeLimit, const Where& where) const {
  std::vector<double> seconds(detail::size(this->count(where)));
  TenonInt best{};
  detail::Call(where).check(TenonPlacementListPredict(get(), machine.get(), algorithm, sizeLimit,
      seconds.data(), &best));
  return {std::move(seconds), best};
}
inline ReductionPrograms::ReductionPrograms(const PlacementList& list, TenonInt index,
    List<int> reduce, int sizeLimit, const Where& where) {
  detail::Call(where).check(TenonReductionProgramsCreate(list.get(), index,
      static_cast<int>(reduce.size()), reduce.data(), sizeLimit, out()));
}
inline TenonInt ReductionPrograms::count(const Where& where) const {
  TenonInt count{};
  detail::Call(where).check(TenonReductionProgramsGetCount(get(), &count));
  return count;
}
inline int ReductionPrograms::size(TenonInt index, const Where& where) const {
  int steps{};
  detail::Call(where).check(TenonReductionProgramsGetSize(get(), index, &steps));
  return steps;
}
inline std::string ReductionPrograms::text(TenonInt index, const Where& where) const {
  detail::TextBuffer text;
  detail::Call(where).check(TenonReductionProgramsGetText(get(), index, nullptr, 0, text.needed()));
  detail::Call(where).check(TenonReductionProgramsGetText(get(), index, text.allocate(),
      text.length(), nullptr));
  return text.take();
}
inline ReductionPrograms::Step ReductionPrograms::step(TenonInt index, int step,
    const Where& where) const {
  TenonCollective collective{};
  int groups{};
  int members{};
  detail::Call(where).check(TenonReductionProgramsGetStep(get(), index, step, &collective, &groups,
      &members));
  return {collective, groups, members};
}
inline std::vector<int> ReductionPrograms::groups(TenonInt index, int step,
    const Where& where) const {
  std::vector<int> devices(detail::size(this->step(index, step, where).groups * this->step(index,
      step, where).members));
  detail::Call(where).check(TenonReductionProgramsGetGroups(get(), index, step, devices.data()));
  return devices;
}
inline std::vector<double> ReductionPrograms::predict(const Machine& machine,
    TenonReductionAlgorithm algorithm, double bytes, const Where& where) const {
  std::vector<double> seconds(detail::size(this->count(where)));
  detail::Call(where).check(TenonReductionProgramsPredict(get(), machine.get(), algorithm, bytes,
      seconds.data()));
  return seconds;
}
inline FieldSeries::FieldSeries(MPI_Comm comm, Text path, int spatial, const Where& where) {
  detail::Call(where).check(TenonFieldSeriesCreate(comm, path.get(), spatial, out()));
}
inline FieldSeries& FieldSeries::setGrid(List<double> origin, List<double> spacing,
    const Where& where) {
  detail::checkLength("tenon::FieldSeries::setGrid: spacing", spacing.size(), origin.size());
  detail::Call(where).check(TenonFieldSeriesSetGrid(get(), static_cast<int>(origin.size()),
      origin.data(), spacing.data()));
  return *this;
}
inline FieldSeries& FieldSeries::setMesh(const IndexMap& cells, Text shape, const IndexMap& nodes,
    Ints corner, List<double> places, const Where& where) {
  detail::Call(where).check(TenonFieldSeriesSetMesh(get(), cells.get(), shape.get(), nodes.get(),
      static_cast<TenonInt>(corner.size()), corner.data(), static_cast<TenonInt>(places.size()),
      places.data()));
  return *this;
}
inline FieldSeries& FieldSeries::addTensor(const DTensor& tensor, Text name, Text components,
    const Where& where) {
  detail::Call(where).check(TenonFieldSeriesAddTensor(get(), tensor.get(), name.get(),
      components.get()));
  return *this;
}
inline void FieldSeries::write(TenonInt step, double time, const Where& where) {
  detail::Call(where).check(TenonFieldSeriesWrite(get(), step, time));
}
inline IndexMap IndexMap::fromIds(MPI_Comm comm, TenonInt owned, Ints ids, const Where& where) {
  IndexMap map;
  detail::Call(where).check(TenonIndexMapCreateFromIds(comm, owned,
      static_cast<TenonInt>(ids.size()), ids.data(), map.out()));
  return map;
}
inline IndexMap IndexMap::sorted(const Where& where) const {
  IndexMap sorted;
  detail::Call(where).check(TenonIndexMapCreateSorted(get(), sorted.out()));
  return sorted;
}
inline IndexMap IndexMap::cells(const Layout& from, const Layout& to, List<int> joint, Ints target,
    Ints source, List<double> weights, const Where& where) {
  detail::checkLength("tenon::IndexMap::cells: joint", joint.size(),
      detail::size(from.dimensions(where)));
  detail::checkLength("tenon::IndexMap::cells: source", source.size(), target.size());
  detail::checkAnyLength("tenon::IndexMap::cells: weights", weights.size(), target.size());
  IndexMap map;
  detail::Call(where).check(TenonIndexMapCreateCells(from.get(), to.get(), joint.data(),
      static_cast<TenonInt>(target.size()), target.data(), source.data(), detail::orNull(weights),
      map.out()));
  return map;
}
inline IndexMap::Layouts IndexMap::layouts(Ints shape, const Where& where) const {
  Layout domain;
  Layout range;
  detail::Call(where).check(TenonIndexMapGetLayouts(get(), static_cast<int>(shape.size()),
      shape.data(), domain.out(), range.out()));
  return {std::move(domain), std::move(range)};
}
inline LinearOp LinearOp::indexMap(const IndexMap& map, const Layout& domain, TenonDataType type,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateIndexMap(map.get(), domain.get(), type, op.out()));
  return op;
}
inline bool initialized(const Where& where) {
  TenonBool initialized{};
  detail::Call(where).check(TenonInitialized(&initialized));
  return initialized != TENON_FALSE;
}
inline MPI_Comm commFromFortran(int fcomm, const Where& where) {
  MPI_Comm comm = MPI_COMM_NULL;
  detail::Call(where).check(TenonCommFromFortran(fcomm, &comm));
  return comm;
}
inline Version version(const Where& where) {
  int major{};
  int minor{};
  int patch{};
  detail::Call(where).check(TenonGetVersion(&major, &minor, &patch));
  return {major, minor, patch};
}
inline std::string info(Text what, const Where& where) {
  detail::TextBuffer text;
  detail::Call(where).check(TenonGetInfo(what.get(), nullptr, 0, text.needed()));
  detail::Call(where).check(TenonGetInfo(what.get(), text.allocate(), text.length(), nullptr));
  return text.take();
}
inline Layer& Layer::setDataType(TenonDataType type, const Where& where) {
  detail::Call(where).check(TenonLayerSetDataType(get(), type));
  return *this;
}
inline Layer& Layer::setSpace(TenonMemorySpace space, const Where& where) {
  detail::Call(where).check(TenonLayerSetSpace(get(), space));
  return *this;
}
inline Layer& Layer::setStackDepth(int depth, const Where& where) {
  detail::Call(where).check(TenonLayerSetStackDepth(get(), depth));
  return *this;
}
inline Layer& Layer::setSignature(Text labels, const Where& where) {
  detail::Call(where).check(TenonLayerSetSignature(get(), labels.get()));
  return *this;
}
inline Layer& Layer::setStorage(Text storage, const Where& where) {
  detail::Call(where).check(TenonLayerSetStorage(get(), storage.get()));
  return *this;
}
inline void Layer::setUp(const Layout& input, const Where& where) {
  detail::Call(where).check(TenonLayerSetUp(get(), input.get()));
}
inline Layout Layer::outputLayout(const Where& where) const {
  Layout output;
  detail::Call(where).check(TenonLayerGetOutputLayout(get(), output.out()));
  return output;
}
inline DTensor Layer::createOutput(const Where& where) const {
  DTensor y;
  detail::Call(where).check(TenonLayerCreateOutput(get(), y.out()));
  return y;
}
inline DTensor Layer::createOutputCotangent(const Where& where) const {
  DTensor dy;
  detail::Call(where).check(TenonLayerCreateOutputCotangent(get(), dy.out()));
  return dy;
}
inline DTensor Layer::createInputCotangent(const Where& where) const {
  DTensor dx;
  detail::Call(where).check(TenonLayerCreateInputCotangent(get(), dx.out()));
  return dx;
}
inline void Layer::initialize(TenonInt seed, const Where& where) {
  detail::Call(where).check(TenonLayerInitialize(get(), seed));
}
inline int Layer::parameterCount(const Where& where) const {
  int count{};
  detail::Call(where).check(TenonLayerGetParameterCount(get(), &count));
  return count;
}
inline DTensor Layer::parameter(int index, const Where& where) const {
  DTensor parameter;
  detail::Call(where).check(TenonLayerGetParameter(get(), index, parameter.out()));
  return parameter;
}
inline DTensor Layer::parameterGradient(int index, const Where& where) const {
  DTensor gradient;
  detail::Call(where).check(TenonLayerGetParameterGradient(get(), index, gradient.out()));
  return gradient;
}
inline DTensor Layer::reducedGradient(int index, const Where& where) const {
  DTensor gradient;
  detail::Call(where).check(TenonLayerGetReducedGradient(get(), index, gradient.out()));
  return gradient;
}
inline DTensor Layer::parameterTangent(int index, const Where& where) const {
  DTensor tangent;
  detail::Call(where).check(TenonLayerGetParameterTangent(get(), index, tangent.out()));
  return tangent;
}
inline int Layer::stateCount(const Where& where) const {
  int count{};
  detail::Call(where).check(TenonLayerGetStateCount(get(), &count));
  return count;
}
inline DTensor Layer::state(int index, const Where& where) const {
  DTensor state;
  detail::Call(where).check(TenonLayerGetState(get(), index, state.out()));
  return state;
}
inline Layer& Layer::setTraining(bool training, const Where& where) {
  detail::Call(where).check(TenonLayerSetTraining(get(), detail::truth(training)));
  return *this;
}
inline Layer& Layer::setRecording(bool recording, const Where& where) {
  detail::Call(where).check(TenonLayerSetRecording(get(), detail::truth(recording)));
  return *this;
}
inline Layer& Layer::setFrozen(bool frozen, const Where& where) {
  detail::Call(where).check(TenonLayerSetFrozen(get(), detail::truth(frozen)));
  return *this;
}
inline Layer& Layer::setTarget(const DTensor& target, const Where& where) {
  detail::Call(where).check(TenonLayerSetTarget(get(), target.get()));
  return *this;
}
inline Layer& Layer::setTargetWeights(const DTensor& weights, const Where& where) {
  detail::Call(where).check(TenonLayerSetTargetWeights(get(), weights.get()));
  return *this;
}
inline void Layer::apply(const DTensor& x, DTensor& y, const Where& where) {
  detail::Call(where).check(TenonLayerApply(get(), x.get(), y.get()));
}
inline void Layer::applyTangent(const DTensor& dx, DTensor& dy, const Where& where) {
  detail::Call(where).check(TenonLayerApplyTangent(get(), dx.get(), dy.get()));
}
inline void Layer::applyAdjoint(const DTensor& dy, DTensor& dx, const Where& where) {
  detail::Call(where).check(TenonLayerApplyAdjoint(get(), dy.get(), dx.get()));
}
inline void Layer::applyAdjoint(const DTensor& dy, const Where& where) {
  detail::Call(where).check(TenonLayerApplyAdjoint(get(), dy.get(), nullptr));
}
inline void Layer::clearStack(const Where& where) {
  detail::Call(where).check(TenonLayerClearStack(get()));
}
inline void Layer::zeroGradients(const Where& where) {
  detail::Call(where).check(TenonLayerZeroGradients(get()));
}
inline double Layer::testAdjoint(const DTensor& x, TenonInt seed, double* tangent, double* adjoint,
    const Where& where) {
  double relative{};
  detail::Call(where).check(TenonLayerTestAdjoint(get(), x.get(), seed, tangent, adjoint,
      &relative));
  return relative;
}
inline double Layer::testTaylor(const DTensor& x, TenonInt seed, double* remainder,
    const Where& where) {
  double order{};
  detail::Call(where).check(TenonLayerTestTaylor(get(), x.get(), seed, &order, remainder));
  return order;
}
inline Layer Layer::sequential(MPI_Comm comm, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateSequential(comm, layer.out()));
  return layer;
}
inline Layer& Layer::add(const Layer& layer, const Where& where) {
  detail::Call(where).check(TenonLayerSequentialAdd(get(), layer.get()));
  return *this;
}
inline Layer Layer::graph(MPI_Comm comm, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateGraph(comm, layer.out()));
  return layer;
}
inline int Layer::addNode(const Layer& layer, List<int> inputs, const Where& where) {
  int node{};
  detail::Call(where).check(TenonLayerGraphAddNode(get(), layer.get(),
      static_cast<int>(inputs.size()), inputs.data(), &node));
  return node;
}
inline Layout Layer::boundaryLayout(const Layout& input, const Where& where) const {
  Layout boundary;
  detail::Call(where).check(TenonLayerGetBoundaryLayout(get(), input.get(), boundary.out()));
  return boundary;
}
inline void Layer::setUpMany(Handles<TenonLayout> inputs, const Where& where) {
  detail::Call(where).check(TenonLayerSetUpMany(get(), static_cast<int>(inputs.size()),
      inputs.data()));
}
inline DTensor Layer::createInputCotangentAt(int input, const Where& where) const {
  DTensor dx;
  detail::Call(where).check(TenonLayerCreateInputCotangentAt(get(), input, dx.out()));
  return dx;
}
inline void Layer::applyMany(Handles<TenonDTensor> x, DTensor& y, const Where& where) {
  detail::Call(where).check(TenonLayerApplyMany(get(), static_cast<int>(x.size()), x.data(),
      y.get()));
}
inline void Layer::applyTangentMany(Handles<TenonDTensor> dx, DTensor& dy, const Where& where) {
  detail::Call(where).check(TenonLayerApplyTangentMany(get(), static_cast<int>(dx.size()),
      dx.data(), dy.get()));
}
inline void Layer::applyAdjointMany(const DTensor& dy, Handles<TenonDTensor> dx,
    const Where& where) {
  detail::Call(where).check(TenonLayerApplyAdjointMany(get(), dy.get(), static_cast<int>(dx.size()),
      dx.data()));
}
inline int Layer::inputCount(const Where& where) const {
  int count{};
  detail::Call(where).check(TenonLayerGetInputCount(get(), &count));
  return count;
}
inline std::string Layer::inputName(int input, const Where& where) const {
  detail::TextBuffer name;
  detail::Call(where).check(TenonLayerGetInputName(get(), input, nullptr, 0, name.needed()));
  detail::Call(where).check(TenonLayerGetInputName(get(), input, name.allocate(), name.length(),
      nullptr));
  return name.take();
}
inline int Layer::outputCount(const Where& where) const {
  int count{};
  detail::Call(where).check(TenonLayerGetOutputCount(get(), &count));
  return count;
}
inline std::string Layer::outputName(int output, const Where& where) const {
  detail::TextBuffer name;
  detail::Call(where).check(TenonLayerGetOutputName(get(), output, nullptr, 0, name.needed()));
  detail::Call(where).check(TenonLayerGetOutputName(get(), output, name.allocate(), name.length(),
      nullptr));
  return name.take();
}
inline Layout Layer::outputLayoutAt(int output, const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonLayerGetOutputLayoutAt(get(), output, layout.out()));
  return layout;
}
inline DTensor Layer::createOutputAt(int output, const Where& where) const {
  DTensor y;
  detail::Call(where).check(TenonLayerCreateOutputAt(get(), output, y.out()));
  return y;
}
inline DTensor Layer::createOutputCotangentAt(int output, const Where& where) const {
  DTensor dy;
  detail::Call(where).check(TenonLayerCreateOutputCotangentAt(get(), output, dy.out()));
  return dy;
}
inline void Layer::applyAll(Handles<TenonDTensor> x, Handles<TenonDTensor> y, const Where& where) {
  detail::Call(where).check(TenonLayerApplyAll(get(), static_cast<int>(x.size()), x.data(),
      static_cast<int>(y.size()), y.data()));
}
inline void Layer::applyTangentAll(Handles<TenonDTensor> dx, Handles<TenonDTensor> dy,
    const Where& where) {
  detail::Call(where).check(TenonLayerApplyTangentAll(get(), static_cast<int>(dx.size()), dx.data(),
      static_cast<int>(dy.size()), dy.data()));
}
inline void Layer::applyAdjointAll(Handles<TenonDTensor> dy, Handles<TenonDTensor> dx,
    const Where& where) {
  detail::Call(where).check(TenonLayerApplyAdjointAll(get(), static_cast<int>(dy.size()), dy.data(),
      static_cast<int>(dx.size()), dx.data()));
}
inline Layer Layer::fromFile(MPI_Comm comm, Text nameOrPath, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateFromFile(comm, nameOrPath.get(), layer.out()));
  return layer;
}
inline Layer Layer::fromModel(MPI_Comm comm, Text path, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateFromModel(comm, path.get(), layer.out()));
  return layer;
}
inline void Layer::testModel(const Where& where) {
  detail::Call(where).check(TenonLayerTestModel(get()));
}
inline void Layer::saveNetwork(Text path, const Where& where) const {
  detail::Call(where).check(TenonLayerSaveNetwork(get(), path.get()));
}
inline void Layer::loadWeights(Text path, Text map, const Where& where) {
  detail::Call(where).check(TenonLayerLoadWeights(get(), path.get(), map.get()));
}
inline void Layer::saveWeights(Text path, const Where& where) const {
  detail::Call(where).check(TenonLayerSaveWeights(get(), path.get()));
}
inline Layer Layer::child(Text path, const Where& where) const {
  Layer child;
  detail::Call(where).check(TenonLayerGetChild(get(), path.get(), child.out()));
  return child;
}
inline int Layer::childCount(const Where& where) const {
  int count{};
  detail::Call(where).check(TenonLayerGetChildCount(get(), &count));
  return count;
}
inline Layer Layer::childAt(int index, const Where& where) const {
  Layer child;
  detail::Call(where).check(TenonLayerGetChildAt(get(), index, child.out()));
  return child;
}
inline DTensor Layer::parameter(Text path, const Where& where) const {
  DTensor parameter;
  detail::Call(where).check(TenonLayerGetParameterAt(get(), path.get(), parameter.out()));
  return parameter;
}
inline Layer Layer::conv(MPI_Comm comm, TenonInt inChannels, TenonInt outChannels, Ints kernel,
    const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateConv(comm, static_cast<int>(kernel.size()), inChannels,
      outChannels, kernel.data(), layer.out()));
  return layer;
}
inline Layer Layer::affine(MPI_Comm comm, TenonInt inputs, TenonInt outputs, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateAffine(comm, inputs, outputs, layer.out()));
  return layer;
}
inline Layer Layer::columnMLP(MPI_Comm comm, Ints widths, Text activation, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateColumnMLP(comm, static_cast<int>(widths.size()),
      widths.data(), activation.get(), layer.out()));
  return layer;
}
inline Layer Layer::collocate(MPI_Comm comm, List<TenonFaces> faces, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateCollocate(comm, static_cast<int>(faces.size()),
      faces.data(), layer.out()));
  return layer;
}
inline Layer Layer::stagger(MPI_Comm comm, List<TenonFaces> faces, const Where& where) {
  Layer layer;
  detail::Call(where).check(TenonLayerCreateStagger(comm, static_cast<int>(faces.size()),
      faces.data(), layer.out()));
  return layer;
}
inline int Layer::spatialDimensions(const Where& where) const {
  int spatial{};
  detail::Call(where).check(TenonLayerGetSpatialDimensions(get(), &spatial));
  return spatial;
}
inline Layer& Layer::setStride(Ints stride, const Where& where) {
  detail::checkLength("tenon::Layer::setStride: stride", stride.size(),
      detail::size(this->spatialDimensions(where)));
  detail::Call(where).check(TenonLayerSetStride(get(), stride.data()));
  return *this;
}
inline Layer& Layer::setPadding(Ints low, Ints high, const Where& where) {
  detail::checkLength("tenon::Layer::setPadding: low", low.size(),
      detail::size(this->spatialDimensions(where)));
  detail::checkAnyLength("tenon::Layer::setPadding: high", high.size(),
      detail::size(this->spatialDimensions(where)));
  detail::Call(where).check(TenonLayerSetPadding(get(), low.data(), detail::orNull(high)));
  return *this;
}
inline Layer& Layer::setBoundary(List<TenonBoundary> low, List<TenonBoundary> high,
    const Where& where) {
  detail::checkLength("tenon::Layer::setBoundary: low", low.size(),
      detail::size(this->spatialDimensions(where)));
  detail::checkAnyLength("tenon::Layer::setBoundary: high", high.size(),
      detail::size(this->spatialDimensions(where)));
  detail::Call(where).check(TenonLayerSetBoundary(get(), low.data(), detail::orNull(high)));
  return *this;
}
inline Layer& Layer::setChannelBoundary(TenonInt channel, List<TenonBoundary> low,
    List<TenonBoundary> high, const Where& where) {
  detail::checkLength("tenon::Layer::setChannelBoundary: low", low.size(),
      detail::size(this->spatialDimensions(where)));
  detail::checkAnyLength("tenon::Layer::setChannelBoundary: high", high.size(),
      detail::size(this->spatialDimensions(where)));
  detail::Call(where).check(TenonLayerSetChannelBoundary(get(), channel, low.data(),
      detail::orNull(high)));
  return *this;
}
inline Layer& Layer::setOutputLayout(const Layout& output, const Where& where) {
  detail::Call(where).check(TenonLayerSetOutputLayout(get(), output.get()));
  return *this;
}
inline std::string Layer::types(const Where& where) {
  detail::TextBuffer types;
  detail::Call(where).check(TenonLayerGetTypes(nullptr, 0, types.needed()));
  detail::Call(where).check(TenonLayerGetTypes(types.allocate(), types.length(), nullptr));
  return types.take();
}
inline std::string Layer::labels(Ints shape, const Where& where) const {
  detail::TextBuffer labels;
  detail::Call(where).check(TenonLayerGetLabels(get(), static_cast<int>(shape.size()), shape.data(),
      nullptr, 0, labels.needed()));
  detail::Call(where).check(TenonLayerGetLabels(get(), static_cast<int>(shape.size()), shape.data(),
      labels.allocate(), labels.length(), nullptr));
  return labels.take();
}
inline std::string Layer::typeSignatures(Text type, int ndim, const Where& where) {
  detail::TextBuffer signatures;
  detail::Call(where).check(TenonLayerGetTypeSignatures(type.get(), ndim, nullptr, 0,
      signatures.needed()));
  detail::Call(where).check(TenonLayerGetTypeSignatures(type.get(), ndim, signatures.allocate(),
      signatures.length(), nullptr));
  return signatures.take();
}
inline Layout::Layout(const Partition& partition, Ints shape, Text properties, const Where& where) {
  detail::Call(where).check(TenonLayoutCreateSharded(partition.get(),
      static_cast<int>(shape.size()), shape.data(), properties.get(), out()));
}
inline Layout::Layout(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where) {
  detail::checkAnyLength("tenon::Layout: shape", shape.size(), low.size());
  detail::checkLength("tenon::Layout: high", high.size(), low.size());
  detail::Call(where).check(TenonLayoutCreateFromBoxes(comm, static_cast<int>(low.size()),
      detail::orNull(shape), low.data(), high.data(), out()));
}
inline Layout Layout::staggered(Ints faces, const Where& where) const {
  detail::checkLength("tenon::Layout::staggered: faces", faces.size(),
      detail::size(this->dimensions(where)));
  Layout layout;
  detail::Call(where).check(TenonLayoutCreateStaggered(get(), faces.data(), layout.out()));
  return layout;
}
inline Layout::Layout(const Partition& partition, const Where& where) {
  detail::Call(where).check(TenonLayoutCreate(partition.get(), out()));
}
inline Layout Layout::like(const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonLayoutCreateLike(get(), layout.out()));
  return layout;
}
inline Layout& Layout::setShape(Ints shape, const Where& where) {
  detail::Call(where).check(TenonLayoutSetShape(get(), static_cast<int>(shape.size()),
      shape.data()));
  return *this;
}
inline Layout& Layout::setProperties(Text properties, const Where& where) {
  detail::Call(where).check(TenonLayoutSetProperties(get(), properties.get()));
  return *this;
}
inline Layout& Layout::setSplitOrder(int dim, List<int> axes, const Where& where) {
  detail::Call(where).check(TenonLayoutSetSplitOrder(get(), dim, static_cast<int>(axes.size()),
      axes.data()));
  return *this;
}
inline Layout& Layout::setCuts(int dim, Ints cuts, const Where& where) {
  detail::Call(where).check(TenonLayoutSetCuts(get(), dim, static_cast<int>(cuts.size()),
      cuts.data()));
  return *this;
}
inline Layout& Layout::setHalo(int dim, TenonInt low, TenonInt high, TenonBoundary lowMode,
    TenonBoundary highMode, const Where& where) {
  detail::Call(where).check(TenonLayoutSetHalo(get(), dim, low, high, lowMode, highMode));
  return *this;
}
inline Layout& Layout::setHaloBoxes(int dim, Ints low, Ints high, TenonBoundary lowMode,
    TenonBoundary highMode, const Where& where) {
  detail::checkLength("tenon::Layout::setHaloBoxes: high", high.size(), low.size());
  detail::Call(where).check(TenonLayoutSetHaloBoxes(get(), dim, static_cast<int>(low.size()),
      low.data(), high.data(), lowMode, highMode));
  return *this;
}
inline Layout& Layout::setHaloPartial(int dim, bool partial, const Where& where) {
  detail::Call(where).check(TenonLayoutSetHaloPartial(get(), dim, detail::truth(partial)));
  return *this;
}
inline void Layout::setUp(const Where& where) {
  detail::Call(where).check(TenonLayoutSetUp(get()));
}
inline Layout Layout::dual(const Where& where) const {
  Layout dual;
  detail::Call(where).check(TenonLayoutGetDual(get(), dual.out()));
  return dual;
}
inline Partition Layout::partition(const Where& where) const {
  Partition partition;
  detail::Call(where).check(TenonLayoutGetPartition(get(), partition.out()));
  return partition;
}
inline int Layout::dimensions(const Where& where) const {
  int ndim{};
  detail::Call(where).check(TenonLayoutGetDim(get(), &ndim));
  return ndim;
}
inline std::vector<TenonInt> Layout::shape(const Where& where) const {
  std::vector<TenonInt> shape(detail::size(this->dimensions(where)));
  detail::Call(where).check(TenonLayoutGetShape(get(), shape.data()));
  return shape;
}
inline std::string Layout::properties(const Where& where) const {
  detail::TextBuffer properties;
  detail::Call(where).check(TenonLayoutGetProperties(get(), nullptr, 0, properties.needed()));
  detail::Call(where).check(TenonLayoutGetProperties(get(), properties.allocate(),
      properties.length(), nullptr));
  return properties.take();
}
inline Box Layout::box(const Where& where) const {
  std::vector<TenonInt> low(detail::size(this->dimensions(where)));
  std::vector<TenonInt> high(detail::size(this->dimensions(where)));
  detail::Call(where).check(TenonLayoutGetBox(get(), low.data(), high.data()));
  return {std::move(low), std::move(high)};
}
inline Box Layout::ownedBox(const Where& where) const {
  std::vector<TenonInt> low(detail::size(this->dimensions(where)));
  std::vector<TenonInt> high(detail::size(this->dimensions(where)));
  detail::Call(where).check(TenonLayoutGetOwnedBox(get(), low.data(), high.data()));
  return {std::move(low), std::move(high)};
}
inline bool Layout::isActive(const Where& where) const {
  TenonBool active{};
  detail::Call(where).check(TenonLayoutIsActive(get(), &active));
  return active != TENON_FALSE;
}
inline bool Layout::isEqual(const Layout& other, const Where& where) const {
  TenonBool equal{};
  detail::Call(where).check(TenonLayoutIsEqual(get(), other.get(), &equal));
  return equal != TENON_FALSE;
}
inline void LinearOp::apply(const DTensor& x, DTensor& y, const Where& where) {
  detail::Call(where).check(TenonLinearOpApply(get(), x.get(), y.get()));
}
inline void LinearOp::applyAdjoint(const DTensor& y, DTensor& x, const Where& where) {
  detail::Call(where).check(TenonLinearOpApplyAdjoint(get(), y.get(), x.get()));
}
inline void LinearOp::applyAdd(double alpha, const DTensor& x, double beta, DTensor& y,
    const Where& where) {
  detail::Call(where).check(TenonLinearOpApplyAdd(get(), alpha, x.get(), beta, y.get()));
}
inline void LinearOp::applyBegin(double alpha, const DTensor& x, double beta, DTensor& y,
    const Where& where) {
  detail::Call(where).check(TenonLinearOpApplyBegin(get(), alpha, x.get(), beta, y.get()));
}
inline void LinearOp::applyEnd(const Where& where) {
  detail::Call(where).check(TenonLinearOpApplyEnd(get()));
}
inline void LinearOp::bind(const DTensor& x, const DTensor& y, const Where& where) {
  detail::Call(where).check(TenonLinearOpBind(get(), x.get(), y.get()));
}
inline void LinearOp::unbind(const Where& where) {
  detail::Call(where).check(TenonLinearOpUnbind(get()));
}
inline Layout LinearOp::domain(const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonLinearOpGetDomain(get(), layout.out()));
  return layout;
}
inline Layout LinearOp::range(const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonLinearOpGetRange(get(), layout.out()));
  return layout;
}
inline LinearOp::DataTypes LinearOp::dataTypes(const Where& where) const {
  TenonDataType domain{};
  TenonDataType range{};
  detail::Call(where).check(TenonLinearOpGetDataTypes(get(), &domain, &range));
  return {domain, range};
}
inline LinearOp::Traffic LinearOp::traffic(const Where& where) const {
  TenonInt messages{};
  TenonInt bytes{};
  detail::Call(where).check(TenonLinearOpGetTraffic(get(), &messages, &bytes));
  return {messages, bytes};
}
inline double LinearOp::testAdjoint(TenonInt seed, bool integers, double* forward, double* adjoint,
    const Where& where) {
  double relative{};
  detail::Call(where).check(TenonLinearOpTestAdjoint(get(), seed, detail::truth(integers), forward,
      adjoint, &relative));
  return relative;
}
inline LinearOp LinearOp::conversion(const Layout& from, const Layout& to, TenonDataType type,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateConversion(from.get(), to.get(), type, op.out()));
  return op;
}
inline LinearOp LinearOp::halo(const Layout& from, const Layout& to, TenonDataType type,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateHalo(from.get(), to.get(), type, op.out()));
  return op;
}
inline LinearOp LinearOp::boundaryValues(const Layout& layout, TenonDataType type,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateBoundaryValues(layout.get(), type, op.out()));
  return op;
}
inline LinearOp LinearOp::boundaryConstant(const Layout& layout, TenonDataType type,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateBoundaryConstant(layout.get(), type, op.out()));
  return op;
}
inline LinearOp LinearOp::primitive(const Layout& layout, Text name, int axis, int dim,
    TenonDataType type, const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreatePrimitive(layout.get(), name.get(), axis, dim, type,
      op.out()));
  return op;
}
inline LinearOp LinearOp::sendReceive(const Layout& layout, int rank, TenonDataType type,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateSendReceive(layout.get(), rank, type, op.out()));
  return op;
}
inline LinearOp LinearOp::cast(const Layout& layout, TenonDataType from, TenonDataType to,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateCast(layout.get(), from, to, op.out()));
  return op;
}
inline LinearOp LinearOp::composition(Handles<TenonLinearOp> ops, const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateComposition(static_cast<int>(ops.size()), ops.data(),
      op.out()));
  return op;
}
inline LinearOp LinearOp::adjoint(const Where& where) const {
  LinearOp adjoint;
  detail::Call(where).check(TenonLinearOpCreateAdjoint(get(), adjoint.out()));
  return adjoint;
}
inline LinearOp LinearOp::sum(Handles<TenonLinearOp> ops, const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateSum(static_cast<int>(ops.size()), ops.data(),
      op.out()));
  return op;
}
inline LinearOp LinearOp::scale(double factor, const LinearOp& op, const Where& where) {
  LinearOp scaled;
  detail::Call(where).check(TenonLinearOpCreateScale(factor, op.get(), scaled.out()));
  return scaled;
}
inline LinearOp LinearOp::shell(const Layout& domain, const Layout& range, TenonDataType domainType,
    TenonDataType rangeType, Function<TenonErrorCode(const DTensor&, DTensor&)> apply,
    Function<TenonErrorCode(const DTensor&, DTensor&)> applyAdjoint, const Where& where) {
  struct Functions {
    Function<TenonErrorCode(const DTensor&, DTensor&)> apply;
    Function<TenonErrorCode(const DTensor&, DTensor&)> applyAdjoint;
  };
  const TenonLinearOpMap callApply = [](TenonDTensor input, TenonDTensor output,
      void* context) -> TenonErrorCode {
    Borrowed<DTensor> inputLent(input);
    Borrowed<DTensor> outputLent(output);
    return static_cast<Functions*>(context)->apply(*inputLent, *outputLent);
  };
  const TenonLinearOpMap callApplyAdjoint = [](TenonDTensor input, TenonDTensor output,
      void* context) -> TenonErrorCode {
    Borrowed<DTensor> inputLent(input);
    Borrowed<DTensor> outputLent(output);
    return static_cast<Functions*>(context)->applyAdjoint(*inputLent, *outputLent);
  };
  detail::Context<Functions> context({std::move(apply), std::move(applyAdjoint)});
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateShell(domain.get(), range.get(), domainType,
      rangeType, callApply, context.get()->applyAdjoint ? callApplyAdjoint : nullptr, context.get(),
      detail::Context<Functions>::destroy, op.out()));
  context.release();
  return op;
}
inline LinearOp LinearOp::ofType(const Layout& domain, const Layout& range,
    TenonDataType domainType, TenonDataType rangeType, Text name, void* parameters,
    const Where& where) {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateType(domain.get(), range.get(), domainType,
      rangeType, name.get(), parameters, op.out()));
  return op;
}
inline LinearOp Layer::jacobian(const DTensor& x, const Where& where) const {
  LinearOp op;
  detail::Call(where).check(TenonLinearOpCreateJacobian(get(), x.get(), op.out()));
  return op;
}
inline LinearOp& LinearOp::setPoint(const DTensor& x, const Where& where) {
  detail::Call(where).check(TenonLinearOpJacobianSetPoint(get(), x.get()));
  return *this;
}
inline Links Links::fromTiles(MPI_Comm comm, Ints tiles, List<TenonBoundary> low,
    List<TenonBoundary> high, Ints places, const Where& where) {
  detail::checkLength("tenon::Links::fromTiles: low", low.size(), tiles.size());
  detail::checkAnyLength("tenon::Links::fromTiles: high", high.size(), tiles.size());
  Links links;
  detail::Call(where).check(TenonLinksCreateFromTiles(comm, static_cast<int>(tiles.size()),
      tiles.data(), low.data(), detail::orNull(high), static_cast<TenonInt>(places.size()),
      places.data(), links.out()));
  return links;
}
inline Links Links::fromSides(MPI_Comm comm, int ndim, Ints patches, List<int> sides,
    List<int> turned, const Where& where) {
  detail::checkLength("tenon::Links::fromSides: sides", sides.size(), patches.size());
  detail::checkAnyLength("tenon::Links::fromSides: turned", turned.size(), patches.size());
  Links links;
  detail::Call(where).check(TenonLinksCreateFromSides(comm, ndim,
      static_cast<TenonInt>(patches.size()), patches.data(), sides.data(), detail::orNull(turned),
      links.out()));
  return links;
}
inline Layout Links::layout(Ints shape, const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonLinksGetLayout(get(), static_cast<int>(shape.size()), shape.data(),
      layout.out()));
  return layout;
}
inline Layer& Layer::setLinks(const Links& links, const Where& where) {
  detail::Call(where).check(TenonLayerSetLinks(get(), links.get()));
  return *this;
}
inline void logEnable(bool on, const Where& where) {
  detail::Call(where).check(TenonLogEnable(detail::truth(on)));
}
inline int logEventRegister(Text name, const Where& where) {
  int event{};
  detail::Call(where).check(TenonLogEventRegister(name.get(), &event));
  return event;
}
inline void logEventBegin(int event, const Where& where) {
  detail::Call(where).check(TenonLogEventBegin(event));
}
inline void logEventEnd(int event, const Where& where) {
  detail::Call(where).check(TenonLogEventEnd(event));
}
inline void logFlops(double flops, const Where& where) {
  detail::Call(where).check(TenonLogFlops(flops));
}
inline LogWork logWork(const Where& where) {
  double seconds{};
  double flops{};
  TenonInt messages{};
  TenonInt bytes{};
  detail::Call(where).check(TenonLogGetWork(&seconds, &flops, &messages, &bytes));
  return {seconds, flops, messages, bytes};
}
inline std::string logRecords(const Where& where) {
  detail::TextBuffer text;
  detail::Call(where).check(TenonLogGetRecords(nullptr, 0, text.needed()));
  detail::Call(where).check(TenonLogGetRecords(text.allocate(), text.length(), nullptr));
  return text.take();
}
inline void logStagePush(Text name, const Where& where) {
  detail::Call(where).check(TenonLogStagePush(name.get()));
}
inline void logStagePop(const Where& where) {
  detail::Call(where).check(TenonLogStagePop());
}
inline void progressShow(Text name, TenonInt done, TenonInt total, Text valueName, double value,
    const Where& where) {
  detail::Call(where).check(TenonProgressShow(name.get(), done, total, valueName.get(), value));
}
inline Machine::Machine(Text name, List<const char*> names, Ints sizes, const Where& where) {
  detail::checkLength("tenon::Machine: sizes", sizes.size(), names.size());
  detail::Call(where).check(TenonMachineCreate(name.get(), static_cast<int>(names.size()),
      names.data(), sizes.data(), out()));
}
inline Machine Machine::fromFile(Text nameOrPath, TenonInt nodes, const Where& where) {
  Machine machine;
  detail::Call(where).check(TenonMachineCreateFromFile(nameOrPath.get(), nodes, machine.out()));
  return machine;
}
inline Machine Machine::local(const Where& where) {
  Machine machine;
  detail::Call(where).check(TenonMachineCreateLocal(machine.out()));
  return machine;
}
inline Machine Machine::fromComm(MPI_Comm comm, const Where& where) {
  Machine machine;
  detail::Call(where).check(TenonMachineCreateFromComm(comm, machine.out()));
  return machine;
}
inline Machine Machine::measure(MPI_Comm comm, TenonMemorySpace space, int rounds,
    const Where& where) {
  Machine machine;
  detail::Call(where).check(TenonMachineMeasure(comm, space, rounds, machine.out()));
  return machine;
}
inline void Machine::save(Text path, const Where& where) const {
  detail::Call(where).check(TenonMachineSave(get(), path.get()));
}
inline Machine& Machine::addLink(Text name, int level, TenonInt units, double bandwidth,
    double latency, TenonLinkRule rule, const Where& where) {
  detail::Call(where).check(TenonMachineAddLink(get(), name.get(), level, units, bandwidth, latency,
      rule));
  return *this;
}
inline Machine::Counts Machine::counts(const Where& where) const {
  int levels{};
  int links{};
  TenonInt devices{};
  detail::Call(where).check(TenonMachineGetCounts(get(), &levels, &links, &devices));
  return {levels, links, devices};
}
inline Machine::Level Machine::level(int level, const Where& where) const {
  detail::TextBuffer name;
  TenonInt size{};
  detail::Call(where).check(TenonMachineGetLevel(get(), level, nullptr, 0, name.needed(), &size));
  detail::Call(where).check(TenonMachineGetLevel(get(), level, name.allocate(), name.length(),
      nullptr, &size));
  return {name.take(), size};
}
inline Machine::Link Machine::link(int link, const Where& where) const {
  detail::TextBuffer name;
  int level{};
  TenonInt units{};
  double bandwidth{};
  double latency{};
  detail::Call(where).check(TenonMachineGetLink(get(), link, nullptr, 0, name.needed(), &level,
      &units, &bandwidth, &latency));
  detail::Call(where).check(TenonMachineGetLink(get(), link, name.allocate(), name.length(),
      nullptr, &level, &units, &bandwidth, &latency));
  return {name.take(), level, units, bandwidth, latency};
}
inline std::vector<TenonInt> Machine::ranks(const Where& where) const {
  std::vector<TenonInt> ranks(detail::size(this->counts(where).devices));
  detail::Call(where).check(TenonMachineGetRanks(get(), ranks.data()));
  return ranks;
}
inline Optimizer::Optimizer(const Layer& layer, Text type, const Where& where) {
  detail::Call(where).check(TenonOptimizerCreate(layer.get(), type.get(), out()));
}
inline Optimizer& Optimizer::setLearningRate(double rate, const Where& where) {
  detail::Call(where).check(TenonOptimizerSetLearningRate(get(), rate));
  return *this;
}
inline bool Optimizer::report(double loss, const Where& where) {
  TenonBool stop{};
  detail::Call(where).check(TenonOptimizerReport(get(), loss, &stop));
  return stop != TENON_FALSE;
}
inline double Optimizer::learningRate(const Where& where) const {
  double rate{};
  detail::Call(where).check(TenonOptimizerGetLearningRate(get(), &rate));
  return rate;
}
inline double Optimizer::clipGradientNorm(double maximum, const Where& where) {
  double norm{};
  detail::Call(where).check(TenonOptimizerClipGradientNorm(get(), maximum, &norm));
  return norm;
}
inline void Optimizer::step(const Where& where) {
  detail::Call(where).check(TenonOptimizerStep(get()));
}
inline double Optimizer::stepClosure(Function<double(Optimizer&)> closure, const Where& where) {
  struct Functions {
    Function<double(Optimizer&)> closure;
  };
  const TenonOptimizerClosure callClosure = [](TenonOptimizer optimizer, double* loss,
      void* context) -> TenonErrorCode {
    Borrowed<Optimizer> optimizerLent(optimizer);
    *loss = static_cast<Functions*>(context)->closure(*optimizerLent);
    return TENON_SUCCESS;
  };
  detail::Context<Functions> context({std::move(closure)});
  double loss{};
  detail::Call(where).check(TenonOptimizerStepClosure(get(), callClosure, context.get(), &loss));
  return loss;
}
inline TenonInt Optimizer::steps(const Where& where) const {
  TenonInt steps{};
  detail::Call(where).check(TenonOptimizerGetSteps(get(), &steps));
  return steps;
}
inline void optionsDeclare(Text owner, Text name, TenonOptionType type, Text defaultValue,
    Text help, Text choices, const Where& where) {
  detail::Call(where).check(TenonOptionsDeclare(owner.get(), name.get(), type, defaultValue.get(),
      help.get(), choices.get()));
}
inline void optionsOwnCommandLine(const Where& where) {
  detail::Call(where).check(TenonOptionsOwnCommandLine());
}
inline void optionsSet(Text key, Text value, const Where& where) {
  detail::Call(where).check(TenonOptionsSet(key.get(), value.get()));
}
inline void optionsInsertFile(Text path, const Where& where) {
  detail::Call(where).check(TenonOptionsInsertFile(path.get()));
}
inline bool optionsGetFlag(Text prefix, Text name, const Where& where) {
  TenonBool value{};
  detail::Call(where).check(TenonOptionsGetFlag(prefix.get(), name.get(), &value));
  return value != TENON_FALSE;
}
inline TenonInt optionsGetInt(Text prefix, Text name, const Where& where) {
  TenonInt value{};
  detail::Call(where).check(TenonOptionsGetInt(prefix.get(), name.get(), &value));
  return value;
}
inline std::vector<TenonInt> optionsGetIntegers(Text prefix, Text name, const Where& where) {
  TenonInt count = 0;
  detail::Call(where).check(TenonOptionsGetIntegers(prefix.get(), name.get(), 0, nullptr, &count));
  std::vector<TenonInt> values(detail::size(count));
  detail::Call(where).check(TenonOptionsGetIntegers(prefix.get(), name.get(), count, values.data(),
      nullptr));
  return values;
}
inline double optionsGetReal(Text prefix, Text name, const Where& where) {
  double value{};
  detail::Call(where).check(TenonOptionsGetReal(prefix.get(), name.get(), &value));
  return value;
}
inline std::string optionsGetString(Text prefix, Text name, const Where& where) {
  detail::TextBuffer value;
  detail::Call(where).check(TenonOptionsGetString(prefix.get(), name.get(), nullptr, 0,
      value.needed()));
  detail::Call(where).check(TenonOptionsGetString(prefix.get(), name.get(), value.allocate(),
      value.length(), nullptr));
  return value.take();
}
inline bool optionsHas(Text prefix, Text name, const Where& where) {
  TenonBool given{};
  detail::Call(where).check(TenonOptionsHas(prefix.get(), name.get(), &given));
  return given != TENON_FALSE;
}
inline int optionsDeclaredCount(const Where& where) {
  int count{};
  detail::Call(where).check(TenonOptionsGetDeclaredCount(&count));
  return count;
}
inline std::string optionsDeclaredText(int index, TenonOptionText which, const Where& where) {
  detail::TextBuffer text;
  detail::Call(where).check(TenonOptionsGetDeclaredText(index, which, nullptr, 0, text.needed()));
  detail::Call(where).check(TenonOptionsGetDeclaredText(index, which, text.allocate(),
      text.length(), nullptr));
  return text.take();
}
inline void optionsHelp(Text word, const Where& where) {
  detail::Call(where).check(TenonOptionsHelp(word.get()));
}
inline void setOutputHandler(TenonTextHandler handler, void* context, const Where& where) {
  detail::Call(where).check(TenonSetOutputHandler(handler, context));
}
inline void setErrorOutputHandler(TenonTextHandler handler, void* context, const Where& where) {
  detail::Call(where).check(TenonSetErrorOutputHandler(handler, context));
}
inline void writeFile(Text path, std::string_view text, const Where& where) {
  detail::Call(where).check(TenonWriteFile(path.get(), text.data(),
      static_cast<TenonInt>(text.size())));
}
inline Partition::Partition(MPI_Comm comm, List<int> extents, const Where& where) {
  detail::Call(where).check(TenonPartitionCreate(comm, static_cast<int>(extents.size()),
      extents.data(), out()));
}
inline Partition Partition::fromRanks(MPI_Comm comm, List<int> extents, List<int> ranks,
    const Where& where) {
  detail::checkLength("tenon::Partition::fromRanks: ranks", ranks.size(), detail::product(extents));
  Partition partition;
  detail::Call(where).check(TenonPartitionCreateFromRanks(comm, static_cast<int>(extents.size()),
      extents.data(), ranks.data(), partition.out()));
  return partition;
}
inline Partition Partition::placed(MPI_Comm comm, int axes, int levels, Ints matrix,
    const Where& where) {
  detail::checkLength("tenon::Partition::placed: matrix", matrix.size(),
      detail::size(axes) * detail::size(levels));
  Partition partition;
  detail::Call(where).check(TenonPartitionCreatePlaced(comm, axes, levels, matrix.data(),
      partition.out()));
  return partition;
}
inline int Partition::axes(const Where& where) const {
  int axes{};
  detail::Call(where).check(TenonPartitionGetAxes(get(), &axes));
  return axes;
}
inline std::vector<int> Partition::extents(const Where& where) const {
  std::vector<int> extents(detail::size(this->axes(where)));
  detail::Call(where).check(TenonPartitionGetExtents(get(), extents.data()));
  return extents;
}
inline std::vector<int> Partition::coordinates(const Where& where) const {
  std::vector<int> coordinates(detail::size(this->axes(where)));
  detail::Call(where).check(TenonPartitionGetCoordinates(get(), coordinates.data()));
  return coordinates;
}
inline MPI_Comm Partition::axisComm(int axis, const Where& where) const {
  MPI_Comm comm = MPI_COMM_NULL;
  detail::Call(where).check(TenonPartitionGetAxisComm(get(), axis, &comm));
  return comm;
}
inline void Partition::shareMemory(void* memory, std::size_t bytes, const Where& where) {
  detail::Call(where).check(TenonPartitionShareMemory(get(), memory, bytes));
}
inline void Partition::unshareMemory(void* memory, const Where& where) {
  detail::Call(where).check(TenonPartitionUnshareMemory(get(), memory));
}
inline Partition& Partition::setStream(void* stream, const Where& where) {
  detail::Call(where).check(TenonPartitionSetStream(get(), stream));
  return *this;
}
inline void Partition::resetStream(const Where& where) {
  detail::Call(where).check(TenonPartitionResetStream(get()));
}
inline Plan::Plan(const Layer& network, TenonInt batch, const Where& where) {
  detail::Call(where).check(TenonPlanCreate(network.get(), batch, out()));
}
inline Plan& Plan::setInput(const Layout& layout, const Where& where) {
  detail::Call(where).check(TenonPlanSetInput(get(), layout.get()));
  return *this;
}
inline Plan& Plan::setInputAt(int input, const Layout& layout, const Where& where) {
  detail::Call(where).check(TenonPlanSetInputAt(get(), input, layout.get()));
  return *this;
}
inline Plan& Plan::setOutput(const Layout& layout, const Where& where) {
  detail::Call(where).check(TenonPlanSetOutput(get(), layout.get()));
  return *this;
}
inline Plan& Plan::setMachine(const Machine& machine, const Where& where) {
  detail::Call(where).check(TenonPlanSetMachine(get(), machine.get()));
  return *this;
}
inline void Plan::fix(Text layer, Text word, const Where& where) {
  detail::Call(where).check(TenonPlanFix(get(), layer.get(), word.get()));
}
inline void Plan::search(const Where& where) {
  detail::Call(where).check(TenonPlanSearch(get()));
}
inline void Plan::setUp(const Where& where) {
  detail::Call(where).check(TenonPlanSetUp(get()));
}
inline void Plan::save(Text path, const Where& where) const {
  detail::Call(where).check(TenonPlanSave(get(), path.get()));
}
inline void Plan::load(Text path, const Where& where) {
  detail::Call(where).check(TenonPlanLoad(get(), path.get()));
}
inline double Plan::number(Text layer, Text name, const Where& where) const {
  double value{};
  detail::Call(where).check(TenonPlanGetNumber(get(), layer.get(), name.get(), &value));
  return value;
}
inline std::string Plan::layerName(TenonInt index, const Where& where) const {
  detail::TextBuffer name;
  detail::Call(where).check(TenonPlanGetLayerName(get(), index, nullptr, 0, name.needed()));
  detail::Call(where).check(TenonPlanGetLayerName(get(), index, name.allocate(), name.length(),
      nullptr));
  return name.take();
}
inline std::string Plan::text(Text layer, Text name, const Where& where) const {
  detail::TextBuffer text;
  detail::Call(where).check(TenonPlanGetText(get(), layer.get(), name.get(), nullptr, 0,
      text.needed()));
  detail::Call(where).check(TenonPlanGetText(get(), layer.get(), name.get(), text.allocate(),
      text.length(), nullptr));
  return text.take();
}
inline void Plan::report(const Where& where) {
  detail::Call(where).check(TenonPlanReport(get()));
}
inline Plan::CalibrateResult Plan::calibrate(const Where& where) {
  double latency{};
  double bandwidth{};
  double flops{};
  detail::Call(where).check(TenonPlanCalibrate(get(), &latency, &bandwidth, &flops));
  return {latency, bandwidth, flops};
}
inline Plan& Plan::setRatesFrom(const Plan& measured, const Where& where) {
  detail::Call(where).check(TenonPlanSetRatesFrom(get(), measured.get()));
  return *this;
}
inline Layer Plan::layer(const Where& where) const {
  Layer layer;
  detail::Call(where).check(TenonPlanGetLayer(get(), layer.out()));
  return layer;
}
inline Layout Plan::inputLayout(const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonPlanGetInputLayout(get(), layout.out()));
  return layout;
}
inline Layout Plan::inputLayoutAt(int input, const Where& where) const {
  Layout layout;
  detail::Call(where).check(TenonPlanGetInputLayoutAt(get(), input, layout.out()));
  return layout;
}
inline void Plan::apply(const DTensor& x, DTensor& y, const Where& where) {
  detail::Call(where).check(TenonPlanApply(get(), x.get(), y.get()));
}
inline void Plan::applyTangent(const DTensor& dx, DTensor& dy, const Where& where) {
  detail::Call(where).check(TenonPlanApplyTangent(get(), dx.get(), dy.get()));
}
inline void Plan::applyAdjoint(const DTensor& dy, DTensor& dx, const Where& where) {
  detail::Call(where).check(TenonPlanApplyAdjoint(get(), dy.get(), dx.get()));
}
inline void Plan::applyAdjoint(const DTensor& dy, const Where& where) {
  detail::Call(where).check(TenonPlanApplyAdjoint(get(), dy.get(), nullptr));
}
inline Trainer::Trainer(const Layer& network, const Layer& loss, const Optimizer& optimizer,
    const Where& where) {
  detail::Call(where).check(TenonTrainerCreate(network.get(), loss.get(), optimizer.get(), out()));
}
inline Trainer& Trainer::setDataset(const Dataset& dataset, const Where& where) {
  detail::Call(where).check(TenonTrainerSetDataset(get(), dataset.get()));
  return *this;
}
inline Trainer& Trainer::setBatches(TenonInt count, const DTensor& x, const DTensor& target,
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)> function, const Where& where) {
  struct Functions {
    Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)> function;
  };
  const TenonTrainerBatch callFunction = [](TenonTrainer trainer, TenonInt epoch, TenonInt batch,
      void* context) -> TenonErrorCode {
    Borrowed<Trainer> trainerLent(trainer);
    return static_cast<Functions*>(context)->function(*trainerLent, epoch, batch);
  };
  detail::Context<Functions> context({std::move(function)});
  detail::Call(where).check(TenonTrainerSetBatches(get(), count, x.get(), target.get(),
      callFunction, context.get(), detail::Context<Functions>::destroy));
  context.release();
  return *this;
}
inline Trainer& Trainer::setValidation(const Dataset& dataset, const Where& where) {
  detail::Call(where).check(TenonTrainerSetValidation(get(), dataset.get()));
  return *this;
}
inline Trainer& Trainer::setCallback(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)> callback,
    const Where& where) {
  struct Functions {
    Function<TenonErrorCode(Trainer&, TenonTrainerEvent)> callback;
  };
  const TenonTrainerCallback callCallback = [](TenonTrainer trainer, TenonTrainerEvent event,
      void* context) -> TenonErrorCode {
    Borrowed<Trainer> trainerLent(trainer);
    return static_cast<Functions*>(context)->callback(*trainerLent, event);
  };
  detail::Context<Functions> context({std::move(callback)});
  detail::Call(where).check(TenonTrainerSetCallback(get(),
      context.get()->callback ? callCallback : nullptr, context.get(),
      detail::Context<Functions>::destroy));
  context.release();
  return *this;
}
inline Trainer& Trainer::setCheckpoint(const Checkpoint& checkpoint, Text folder,
    const Where& where) {
  detail::Call(where).check(TenonTrainerSetCheckpoint(get(), checkpoint.get(), folder.get()));
  return *this;
}
inline void Trainer::run(TenonInt epochs, const Where& where) {
  detail::Call(where).check(TenonTrainerRun(get(), epochs));
}
inline void Trainer::stop(const Where& where) {
  detail::Call(where).check(TenonTrainerStop(get()));
}
inline Trainer::Progress Trainer::progress(const Where& where) const {
  TenonInt epochs{};
  TenonInt steps{};
  detail::Call(where).check(TenonTrainerGetProgress(get(), &epochs, &steps));
  return {epochs, steps};
}
inline Trainer::Losses Trainer::losses(const Where& where) const {
  double step{};
  double epoch{};
  double validation{};
  detail::Call(where).check(TenonTrainerGetLosses(get(), &step, &epoch, &validation));
  return {step, epoch, validation};
}

} // namespace tenon

#endif
