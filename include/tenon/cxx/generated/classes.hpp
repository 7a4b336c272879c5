// SPDX-License-Identifier: BSD-2-Clause
// Made by src/interfaces/cxx/generate.py from the public headers. Do not edit.
// clang-format off
/** @file
 *  @brief Part of tenon.hpp: the classes, with a member for each function. */
#ifndef TENON_CXX_GENERATED_CLASSES_HPP
#define TENON_CXX_GENERATED_CLASSES_HPP

#include <tenon/cxx/generated/object.hpp>
#include <tenon/cxx/loan.hpp>
#include <tenon/cxx/settings.hpp>
#include <tenon/ext/error.h>
#include <tenon/ext/layer.h>
#include <tenon/ext/linearop.h>
#include <tenon/ext/reduction.h>

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class Trainer;
class Partition;
class Layout;
class IndexMap;
class Edges;
class Links;
class DTensor;
class LinearOp;
class Layer;
class Machine;
class Optimizer;
class Dataset;
class Checkpoint;
class FieldSeries;
class PlacementList;
class ReductionPrograms;
class Plan;

/** @brief TenonTrainer: Handle of a training loop. */
class Trainer : public Settings<Trainer, Object<Trainer, TenonTrainer>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Trainer share(const Where& where = Where::current()) const {
    return Trainer(this->retained(where));
  }
  /** Creates a trainer. TenonTrainerCreate() */
  Trainer(const Layer& network, const Layer& loss, const Optimizer& optimizer,
      const Where& where = Where::current());
  /** Sets the dataset to train with. TenonTrainerSetDataset() */
  Trainer& setDataset(const Dataset& dataset, const Where& where = Where::current());
  /** Sets a function that provides the batches to train with. TenonTrainerSetBatches() */
  Trainer& setBatches(TenonInt count, const DTensor& x, const DTensor& target,
      Function<TenonErrorCode(Trainer&, TenonInt, TenonInt)> function,
      const Where& where = Where::current());
  /** Sets the dataset to validate with. TenonTrainerSetValidation() */
  Trainer& setValidation(const Dataset& dataset, const Where& where = Where::current());
  /** Sets a function that is called after each step, validation and epoch.
   *  TenonTrainerSetCallback() */
  Trainer& setCallback(Function<TenonErrorCode(Trainer&, TenonTrainerEvent)> callback = {},
      const Where& where = Where::current());
  /** Sets the checkpoint to write. TenonTrainerSetCheckpoint() */
  Trainer& setCheckpoint(const Checkpoint& checkpoint, Text folder,
      const Where& where = Where::current());
  /** Trains until so many epochs are complete, or until it is stopped. TenonTrainerRun() */
  void run(TenonInt epochs, const Where& where = Where::current());
  /** Ends a run after the present step. TenonTrainerStop() */
  void stop(const Where& where = Where::current());
  /** What progress() returns. */
  struct Progress {
    TenonInt epochs;
    TenonInt steps;
  };
  /** Returns how far training has come. TenonTrainerGetProgress() */
  Progress progress(const Where& where = Where::current()) const;
  /** What losses() returns. */
  struct Losses {
    double step;
    double epoch;
    double validation;
  };
  /** Returns losses, NaN where there are none yet. TenonTrainerGetLosses() */
  Losses losses(const Where& where = Where::current()) const;
};

/** @brief TenonPartition: Cartesian process grid. */
class Partition : public Settings<Partition, Object<Partition, TenonPartition>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Partition share(const Where& where = Where::current()) const {
    return Partition(this->retained(where));
  }
  /** Creates a process grid of the ranks 0, 1, . TenonPartitionCreate() */
  Partition(MPI_Comm comm, List<int> extents, const Where& where = Where::current());
  /** Creates a process grid of given ranks in given order. TenonPartitionCreateFromRanks() */
  static Partition fromRanks(MPI_Comm comm, List<int> extents, List<int> ranks,
      const Where& where = Where::current());
  /** Creates a process grid placed on the levels of a machine. TenonPartitionCreatePlaced() */
  static Partition placed(MPI_Comm comm, int axes, int levels, Ints matrix,
      const Where& where = Where::current());
  /** Returns the number of grid axes. TenonPartitionGetAxes() */
  int axes(const Where& where = Where::current()) const;
  /** Returns the number of processes along each axis. TenonPartitionGetExtents() */
  std::vector<int> extents(const Where& where = Where::current()) const;
  /** Returns the coordinates of this rank in the grid. TenonPartitionGetCoordinates() */
  std::vector<int> coordinates(const Where& where = Where::current()) const;
  /** Returns the communicator along one axis. TenonPartitionGetAxisComm() */
  MPI_Comm axisComm(int axis, const Where& where = Where::current()) const;
  /** Lets other ranks of this node read user memory in place (for experts).
   *  TenonPartitionShareMemory() */
  void shareMemory(void* memory, std::size_t bytes, const Where& where = Where::current());
  /** Makes shared memory private again (for experts). TenonPartitionUnshareMemory() */
  void unshareMemory(void* memory = nullptr, const Where& where = Where::current());
  /** Sets the CUDA stream on which kernels of the communicator run. TenonPartitionSetStream() */
  Partition& setStream(void* stream = nullptr, const Where& where = Where::current());
  /** Lets kernels of the communicator run on a stream of the library again.
   *  TenonPartitionResetStream() */
  void resetStream(const Where& where = Where::current());
};

/** @brief TenonLayout: distribution of a tensor. */
class Layout : public Settings<Layout, Object<Layout, TenonLayout>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Layout share(const Where& where = Where::current()) const {
    return Layout(this->retained(where));
  }
  /** Creates a layout in one call. TenonLayoutCreateSharded() */
  Layout(const Partition& partition, Ints shape, Text properties,
      const Where& where = Where::current());
  /** Creates a layout from the boxes of a user's decomposition. TenonLayoutCreateFromBoxes() */
  Layout(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where = Where::current());
  /** Creates a layout to be completed by setters. TenonLayoutCreate() */
  explicit Layout(const Partition& partition, const Where& where = Where::current());
  /** Creates the layout of a field on a staggered grid from that of the cells.
   *  TenonLayoutCreateStaggered() */
  Layout staggered(Ints faces, const Where& where = Where::current()) const;
  /** Creates an editable copy of a layout. TenonLayoutCreateLike() */
  Layout like(const Where& where = Where::current()) const;
  /** Sets the global extents. TenonLayoutSetShape() */
  Layout& setShape(Ints shape, const Where& where = Where::current());
  /** Sets the property of each grid axis. TenonLayoutSetProperties() */
  Layout& setProperties(Text properties, const Where& where = Where::current());
  /** Sets the order of the axes that split a dimension. TenonLayoutSetSplitOrder() */
  Layout& setSplitOrder(int dim, List<int> axes, const Where& where = Where::current());
  /** Sets the split points of a dimension. TenonLayoutSetCuts() */
  Layout& setCuts(int dim, Ints cuts, const Where& where = Where::current());
  /** Sets a halo of uniform width in one dimension. TenonLayoutSetHalo() */
  Layout& setHalo(int dim, TenonInt low, TenonInt high, TenonBoundary lowMode,
      TenonBoundary highMode, const Where& where = Where::current());
  /** Sets the halo of a dimension by the range of each block. TenonLayoutSetHaloBoxes() */
  Layout& setHaloBoxes(int dim, Ints low, Ints high, TenonBoundary lowMode, TenonBoundary highMode,
      const Where& where = Where::current());
  /** Sets whether the halo of a dimension holds partial sums. TenonLayoutSetHaloPartial() */
  Layout& setHaloPartial(int dim, bool partial, const Where& where = Where::current());
  /** Completes the layout. TenonLayoutSetUp() */
  void setUp(const Where& where = Where::current());
  /** Returns the dual layout, that of the cotangents. TenonLayoutGetDual() */
  Layout dual(const Where& where = Where::current()) const;
  /** Returns the process grid. TenonLayoutGetPartition() */
  Partition partition(const Where& where = Where::current()) const;
  /** Returns the number of tensor dimensions. TenonLayoutGetDim() */
  int dimensions(const Where& where = Where::current()) const;
  /** Returns the global extents. TenonLayoutGetShape() */
  std::vector<TenonInt> shape(const Where& where = Where::current()) const;
  /** Returns the properties as text. TenonLayoutGetProperties() */
  std::string properties(const Where& where = Where::current()) const;
  /** Returns the box of this rank, halo included. TenonLayoutGetBox() */
  Box box(const Where& where = Where::current()) const;
  /** Returns the local block of this rank, without the halo. TenonLayoutGetOwnedBox() */
  Box ownedBox(const Where& where = Where::current()) const;
  /** Returns whether this rank takes part in the layout. TenonLayoutIsActive() */
  bool isActive(const Where& where = Where::current()) const;
  /** Returns whether two layouts are equal and on the same communicator. TenonLayoutIsEqual() */
  bool isEqual(const Layout& other, const Where& where = Where::current()) const;
};

/** @brief TenonIndexMap: ids of nodes, and whose copies ghosts are. */
class IndexMap : public Settings<IndexMap, Object<IndexMap, TenonIndexMap>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  IndexMap share(const Where& where = Where::current()) const {
    return IndexMap(this->retained(where));
  }
  /** Creates the map of a mesh's nodes from the ids that each rank lists.
   *  TenonIndexMapCreateFromIds() */
  static IndexMap fromIds(MPI_Comm comm, TenonInt owned, Ints ids,
      const Where& where = Where::current());
  /** Creates a map between the elements of two layouts. TenonIndexMapCreateCells() */
  static IndexMap cells(const Layout& from, const Layout& to, List<int> joint, Ints target,
      Ints source, List<double> weights = {}, const Where& where = Where::current());
  /** Creates the map from the nodes of a mesh to the same in the order of their ids.
   *  TenonIndexMapCreateSorted() */
  IndexMap sorted(const Where& where = Where::current()) const;
  /** What layouts() returns. */
  struct Layouts {
    Layout domain;
    Layout range;
  };
  /** Returns the layouts of tensors that the map takes and gives. TenonIndexMapGetLayouts() */
  Layouts layouts(Ints shape, const Where& where = Where::current()) const;
};

/** @brief TenonEdges: edges of a mesh, between two sets of nodes. */
class Edges : public Settings<Edges, Object<Edges, TenonEdges>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Edges share(const Where& where = Where::current()) const {
    return Edges(this->retained(where));
  }
  /** Creates the edges that each rank lists. TenonEdgesCreate() */
  Edges(const IndexMap& targets, const IndexMap& sources, Ints target, Ints source, Ints keys = {},
      List<double> weights = {}, const Where& where = Where::current());
  /** Creates edges that lie anywhere, of which several ranks can have one.
   *  TenonEdgesCreateShared() */
  static Edges shared(const IndexMap& targets, const IndexMap& sources, Ints target, Ints source,
      Ints keys, List<double> shares = {}, List<double> weights = {},
      const Where& where = Where::current());
  /** Returns the layout of a field on the edges. TenonEdgesGetLayout() */
  Layout layout(Ints shape, const Where& where = Where::current()) const;
};

/** @brief TenonLinks: how the patches of a field are joined. */
class Links : public Settings<Links, Object<Links, TenonLinks>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Links share(const Where& where = Where::current()) const {
    return Links(this->retained(where));
  }
  /** Creates the links of a box's tiles. TenonLinksCreateFromTiles() */
  static Links fromTiles(MPI_Comm comm, Ints tiles, List<TenonBoundary> low,
      List<TenonBoundary> high, Ints places, const Where& where = Where::current());
  /** Creates the links of patches that meet side by side. TenonLinksCreateFromSides() */
  static Links fromSides(MPI_Comm comm, int ndim, Ints patches, List<int> sides,
      List<int> turned = {}, const Where& where = Where::current());
  /** Returns the layout of a field on the patches. TenonLinksGetLayout() */
  Layout layout(Ints shape, const Where& where = Where::current()) const;
};

/** @brief TenonDTensor: distributed tensor. */
class DTensor : public detail::Arrays<Settings<DTensor, Object<DTensor, TenonDTensor>>> {
public:
  using Arrays::Arrays;
  /** A second reference to the same object. */
  DTensor share(const Where& where = Where::current()) const {
    return DTensor(this->retained(where));
  }
  /** Creates a tensor of zeros. TenonDTensorCreate() */
  DTensor(const Layout& layout, TenonDataType type, const Where& where = Where::current());
  /** Reads one dataset of a file into a tensor. TenonDTensorLoad() */
  void load(Text path, Text dataset, const Where& where = Where::current());
  /** Selects the memory space of the local array. TenonDTensorSetSpace() */
  DTensor& setSpace(TenonMemorySpace space, const Where& where = Where::current());
  /** Returns the memory space of the local array. TenonDTensorGetSpace() */
  TenonMemorySpace space(const Where& where = Where::current()) const;
  /** Copies the user arrays into the tensor, halo included. TenonDTensorGatherArrays() */
  void gatherArrays(const Where& where = Where::current());
  /** Copies the tensor into the user arrays, halo included. TenonDTensorScatterArrays() */
  void scatterArrays(const Where& where = Where::current());
  /** Selects private or shared memory for the array owned by Tenon. TenonDTensorSetPrivate() */
  DTensor& setPrivate(bool isPrivate, const Where& where = Where::current());
  /** Returns the strides of the local array. TenonDTensorGetStrides() */
  std::vector<TenonInt> strides(const Where& where = Where::current()) const;
  /** Returns the layout of the tensor. TenonDTensorGetLayout() */
  Layout layout(const Where& where = Where::current()) const;
  /** Returns the element type of the tensor. TenonDTensorGetDataType() */
  TenonDataType dataType(const Where& where = Where::current()) const;
  /** Returns the box of this rank, halo included. TenonDTensorGetBox() */
  Box box(const Where& where = Where::current()) const;
  /** Returns the number of elements in this rank's box. TenonDTensorGetLocalSize() */
  TenonInt localSize(const Where& where = Where::current()) const;
  /** Copies a tensor: y <- x. TenonDTensorCopy() */
  void copy(const DTensor& x, const Where& where = Where::current());
  /** Computes y <- alpha x + beta y. TenonDTensorAXPBY() */
  void axpby(double alpha, const DTensor& x, double beta, const Where& where = Where::current());
  /** Scales a tensor: x <- factor x. TenonDTensorScale() */
  void scale(double factor, const Where& where = Where::current());
  /** Sets every element to one value. TenonDTensorFillConstant() */
  void fill(double value, const Where& where = Where::current());
  /** Fills with random numbers, uniform in [low, high). TenonDTensorFillUniform() */
  void fillUniform(TenonInt seed, TenonInt stream, double low, double high,
      const Where& where = Where::current());
  /** Fills with normally distributed random numbers. TenonDTensorFillNormal() */
  void fillNormal(TenonInt seed, TenonInt stream, double mean, double deviation,
      const Where& where = Where::current());
  /** Computes the Euclidean norm. TenonDTensorNorm() */
  double norm(const Where& where = Where::current()) const;
  /** Computes the pairing of a tensor with one in the dual layout. TenonDTensorPairing() */
  double pairing(const DTensor& y, const Where& where = Where::current()) const;
  /** Computes the largest absolute value of any local element. TenonDTensorMaxAbs() */
  double maxAbs(const Where& where = Where::current()) const;
};

/** @brief TenonLinearOp: linear map between distributed tensors. */
class LinearOp : public Settings<LinearOp, Object<LinearOp, TenonLinearOp>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  LinearOp share(const Where& where = Where::current()) const {
    return LinearOp(this->retained(where));
  }
  /** Creates an embedding into a larger array; new elements are 0. TenonLinearOpCreateAllocate() */
  static LinearOp allocate(const Layout& from, const Layout& to, Ints at, TenonDataType type,
      const Where& where = Where::current());
  /** Creates an operator on boxes of the local array. TenonLinearOpCreateMemory() */
  static LinearOp memory(const Layout& layout, Text name, Ints low, Ints high, Ints to,
      TenonDataType type, const Where& where = Where::current());
  /** Registers an operator type. TenonLinearOpRegister() */
  static void registerType(Text name, const TenonLinearOpFunctions& functions,
      const Where& where = Where::current());
  /** Creates the operator of a map. TenonLinearOpCreateIndexMap() */
  static LinearOp indexMap(const IndexMap& map, const Layout& domain, TenonDataType type,
      const Where& where = Where::current());
  /** Creates the conversion between two layouts. TenonLinearOpCreateConversion() */
  static LinearOp conversion(const Layout& from, const Layout& to, TenonDataType type,
      const Where& where = Where::current());
  /** Creates a halo exchange, the conversion that fills halos. TenonLinearOpCreateHalo() */
  static LinearOp halo(const Layout& from, const Layout& to, TenonDataType type,
      const Where& where = Where::current());
  /** Creates the mask of user-supplied boundary values: y <- M v.
   *  TenonLinearOpCreateBoundaryValues() */
  static LinearOp boundaryValues(const Layout& layout, TenonDataType type,
      const Where& where = Where::current());
  /** Creates the map from one number to all boundary values.
   *  TenonLinearOpCreateBoundaryConstant() */
  static LinearOp boundaryConstant(const Layout& layout, TenonDataType type,
      const Where& where = Where::current());
  /** Creates a communication primitive by its name. TenonLinearOpCreatePrimitive() */
  static LinearOp primitive(const Layout& layout, Text name, int axis, int dim, TenonDataType type,
      const Where& where = Where::current());
  /** Creates a transfer of a tensor to another process. TenonLinearOpCreateSendReceive() */
  static LinearOp sendReceive(const Layout& layout, int rank, TenonDataType type,
      const Where& where = Where::current());
  /** Creates a cast to another floating-point type: y <- x. TenonLinearOpCreateCast() */
  static LinearOp cast(const Layout& layout, TenonDataType from, TenonDataType to,
      const Where& where = Where::current());
  /** Creates a product: ops[count-1] . TenonLinearOpCreateComposition() */
  static LinearOp composition(Handles<TenonLinearOp> ops, const Where& where = Where::current());
  /** Creates a sum: y <- ops[0] x + . TenonLinearOpCreateSum() */
  static LinearOp sum(Handles<TenonLinearOp> ops, const Where& where = Where::current());
  /** Creates a multiple: y <- factor F x. TenonLinearOpCreateScale() */
  static LinearOp scale(double factor, const LinearOp& op, const Where& where = Where::current());
  /** Creates an operator of type "shell" from user functions. TenonLinearOpCreateShell() */
  static LinearOp shell(const Layout& domain, const Layout& range, TenonDataType domainType,
      TenonDataType rangeType, Function<TenonErrorCode(const DTensor&, DTensor&)> apply,
      Function<TenonErrorCode(const DTensor&, DTensor&)> applyAdjoint = {},
      const Where& where = Where::current());
  /** Creates an operator by the name of its type. TenonLinearOpCreateType() */
  static LinearOp ofType(const Layout& domain, const Layout& range, TenonDataType domainType,
      TenonDataType rangeType, Text name, void* parameters = nullptr,
      const Where& where = Where::current());
  /** Applies the operator: y <- F x. TenonLinearOpApply() */
  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current());
  /** Applies the adjoint: x <- F* y. TenonLinearOpApplyAdjoint() */
  void applyAdjoint(const DTensor& y, DTensor& x, const Where& where = Where::current());
  /** Applies with factors: y <- alpha F x + beta y. TenonLinearOpApplyAdd() */
  void applyAdd(double alpha, const DTensor& x, double beta, DTensor& y,
      const Where& where = Where::current());
  /** Starts y <- alpha F x + beta y. TenonLinearOpApplyBegin() */
  void applyBegin(double alpha, const DTensor& x, double beta, DTensor& y,
      const Where& where = Where::current());
  /** Completes TenonLinearOpApplyBegin(). TenonLinearOpApplyEnd() */
  void applyEnd(const Where& where = Where::current());
  /** Binds x and y for y <- F x. TenonLinearOpBind() */
  void bind(const DTensor& x, const DTensor& y, const Where& where = Where::current());
  /** Removes the binding, and that of the adjoint, if there are any. TenonLinearOpUnbind() */
  void unbind(const Where& where = Where::current());
  /** Returns the layout of the domain. TenonLinearOpGetDomain() */
  Layout domain(const Where& where = Where::current()) const;
  /** Returns the layout of the range. TenonLinearOpGetRange() */
  Layout range(const Where& where = Where::current()) const;
  /** What dataTypes() returns. */
  struct DataTypes {
    TenonDataType domain;
    TenonDataType range;
  };
  /** Returns the element types. TenonLinearOpGetDataTypes() */
  DataTypes dataTypes(const Where& where = Where::current()) const;
  /** What traffic() returns. */
  struct Traffic {
    TenonInt messages;
    TenonInt bytes;
  };
  /** Returns what this rank sends in one application of a conversion. TenonLinearOpGetTraffic() */
  Traffic traffic(const Where& where = Where::current()) const;
  /** Tests the adjoint identity on random memory. TenonLinearOpTestAdjoint() */
  double testAdjoint(TenonInt seed, bool integers = false, double* forward = nullptr,
      double* adjoint = nullptr, const Where& where = Where::current());
  /** Creates the adjoint as an operator. TenonLinearOpCreateAdjoint() */
  LinearOp adjoint(const Where& where = Where::current()) const;
  /** Moves a Jacobian to another point. TenonLinearOpJacobianSetPoint() */
  LinearOp& setPoint(const DTensor& x, const Where& where = Where::current());
};

/** @brief TenonLayer: differentiable map with parameters. */
class Layer : public detail::Typed<Settings<Layer, Object<Layer, TenonLayer>>> {
public:
  using Typed::Typed;
  /** A second reference to the same object. */
  Layer share(const Where& where = Where::current()) const {
    return Layer(this->retained(where));
  }
  /** Registers a layer type. TenonLayerRegister() */
  static void registerType(Text name, TenonLayerCreator create,
      const Where& where = Where::current());
  /** Creates a sequential layer, to be filled by TenonLayerSequentialAdd().
   *  TenonLayerCreateSequential() */
  static Layer sequential(MPI_Comm comm, const Where& where = Where::current());
  /** Creates a graph, to be filled by TenonLayerGraphAddNode(). TenonLayerCreateGraph() */
  static Layer graph(MPI_Comm comm, const Where& where = Where::current());
  /** Creates a layer or network from a network file. TenonLayerCreateFromFile() */
  static Layer fromFile(MPI_Comm comm, Text nameOrPath, const Where& where = Where::current());
  /** Creates a layer from the file of a network that was trained in PyTorch.
   *  TenonLayerCreateFromModel() */
  static Layer fromModel(MPI_Comm comm, Text path, const Where& where = Where::current());
  /** Creates a convolution (as cross-correlation). TenonLayerCreateConv() */
  static Layer conv(MPI_Comm comm, TenonInt inChannels, TenonInt outChannels, Ints kernel,
      const Where& where = Where::current());
  /** Creates an affine (fully connected) layer: y = x W^T + b. TenonLayerCreateAffine() */
  static Layer affine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
      const Where& where = Where::current());
  /** Creates a multilayer perceptron of the channels at each point. TenonLayerCreateColumnMLP() */
  static Layer columnMLP(MPI_Comm comm, Ints widths, Text activation = {},
      const Where& where = Where::current());
  /** Creates a layer of means from the faces of a staggered grid to its cells.
   *  TenonLayerCreateCollocate() */
  static Layer collocate(MPI_Comm comm, List<TenonFaces> faces,
      const Where& where = Where::current());
  /** Creates a layer of means from the cells of a staggered grid to its faces.
   *  TenonLayerCreateStagger() */
  static Layer stagger(MPI_Comm comm, List<TenonFaces> faces,
      const Where& where = Where::current());
  /** Returns the names of all types of the library but "shell". TenonLayerGetTypes() */
  static std::string types(const Where& where = Where::current());
  /** Returns the signature table of a type of layers: which properties of the parameters and of
   *  the output follow from which properties of the inputs along a grid axis.
   *  TenonLayerGetTypeSignatures() */
  static std::string typeSignatures(Text type, int ndim, const Where& where = Where::current());
  /** Hands edges to a layer. TenonLayerSetEdges() */
  Layer& setEdges(Text name, const Edges& edges, const Where& where = Where::current());
  /** Hands an index map to a layer. TenonLayerSetIndexMap() */
  Layer& setIndexMap(Text name, const IndexMap& map, const Where& where = Where::current());
  /** Creates a step of message passing, a graph of layers. TenonLayerCreateMessagePassing() */
  Layer messagePassing(const Layer& nodeNetwork, int inputs, Text aggregation,
      const Where& where = Where::current()) const;
  /** Sets the user functions. TenonLayerShellSetFunctions() */
  Layer& shellSetFunctions(const TenonLayerShellFunctions& functions,
      const Where& where = Where::current());
  /** Sets the context passed to the user functions. TenonLayerShellSetContext() */
  Layer& shellSetContext(void* context = nullptr, TenonLayerShellDestroyer destroy = nullptr,
      const Where& where = Where::current());
  /** Returns the context, for setters of a user-defined type. TenonLayerShellGetContext() */
  void* shellContext(const Where& where = Where::current()) const;
  /** Sets the input properties that the functions support. TenonLayerShellSetLabels() */
  Layer& shellSetLabels(Text labels, const Where& where = Where::current());
  /** Sets what is saved for tangent and adjoint. TenonLayerShellSetSaved() */
  Layer& shellSetSaved(bool input, bool output, const Where& where = Where::current());
  /** Declares a parameter. TenonLayerShellAddParameter() */
  Layer& shellAddParameter(Text name, Ints shape, TenonInt fanIn, TenonInt fanOut,
      const Where& where = Where::current());
  /** Declares a state, such as running statistics. TenonLayerShellAddState() */
  Layer& shellAddState(Text name, Ints shape, double initial,
      const Where& where = Where::current());
  /** Sets the size of the memory that an evaluation saves on this rank.
   *  TenonLayerShellSetWorkspace() */
  Layer& shellSetWorkspace(TenonInt bytes, const Where& where = Where::current());
  /** Returns the value of a parameter, in full on every rank. TenonLayerShellGetValue() */
  Borrowed<DTensor> shellValue(int index, const Where& where = Where::current()) const;
  /** Returns the tangent of a parameter, in full on every rank. TenonLayerShellGetTangent() */
  Borrowed<DTensor> shellTangent(int index, const Where& where = Where::current()) const;
  /** Returns the tensor that collects this rank's gradient contributions.
   *  TenonLayerShellGetGradient() */
  Borrowed<DTensor> shellGradient(int index, const Where& where = Where::current()) const;
  /** Returns a state, in full on every rank. TenonLayerShellGetState() */
  Borrowed<DTensor> shellState(int index, const Where& where = Where::current()) const;
  /** Returns the workspace of the current evaluation. TenonLayerShellGetWorkspace() */
  void* shellWorkspace(const Where& where = Where::current()) const;
  /** What setExample() returns. */
  struct SetExampleResult {
    int inputs;
    TenonInt classes;
  };
  /** Gives a layer the settings of a random example of its type. TenonLayerSetExample() */
  SetExampleResult setExample(TenonInt seed, const Where& where = Where::current());
  /** What exampleRange() returns. */
  struct ExampleRange {
    double low;
    double high;
  };
  /** Returns where the numbers lie that the inputs of an example hold.
   *  TenonLayerGetExampleRange() */
  ExampleRange exampleRange(TenonInt seed, const Where& where = Where::current()) const;
  /** Returns the shape of an input, or of the target, of an example. TenonLayerGetExampleShape() */
  std::vector<TenonInt> exampleShape(TenonInt seed, int tensor,
      const Where& where = Where::current()) const;
  /** Sets the element type of input, parameters and output. TenonLayerSetDataType() */
  Layer& setDataType(TenonDataType type, const Where& where = Where::current());
  /** Sets the memory space of input, parameters and output. TenonLayerSetSpace() */
  Layer& setSpace(TenonMemorySpace space, const Where& where = Where::current());
  /** Sets how many evaluations can await their adjoint. TenonLayerSetStackDepth() */
  Layer& setStackDepth(int depth, const Where& where = Where::current());
  /** Sets the signature, overriding the default choice. TenonLayerSetSignature() */
  Layer& setSignature(Text labels, const Where& where = Where::current());
  /** Sets the layout in which parameters are stored and updated. TenonLayerSetStorage() */
  Layer& setStorage(Text storage, const Where& where = Where::current());
  /** Prepares the layer for inputs in one layout. TenonLayerSetUp() */
  void setUp(const Layout& input, const Where& where = Where::current());
  /** Returns the layout of the output, for the last set-up input. TenonLayerGetOutputLayout() */
  Layout outputLayout(const Where& where = Where::current()) const;
  /** Creates a tensor for the output, for the last set-up input. TenonLayerCreateOutput() */
  DTensor createOutput(const Where& where = Where::current()) const;
  /** Creates a tensor for dL/dy, in the dual of the output's layout.
   *  TenonLayerCreateOutputCotangent() */
  DTensor createOutputCotangent(const Where& where = Where::current()) const;
  /** Creates a tensor for dL/dx, in the dual of the input's layout.
   *  TenonLayerCreateInputCotangent() */
  DTensor createInputCotangent(const Where& where = Where::current()) const;
  /** Draws the initial values of all parameters again. TenonLayerInitialize() */
  void initialize(TenonInt seed, const Where& where = Where::current());
  /** Returns the number of parameter tensors, inner layers included.
   *  TenonLayerGetParameterCount() */
  int parameterCount(const Where& where = Where::current()) const;
  /** Returns a parameter, for reading and writing. TenonLayerGetParameter() */
  DTensor parameter(int index, const Where& where = Where::current()) const;
  /** Returns the gradient of the loss with respect to a parameter.
   *  TenonLayerGetParameterGradient() */
  DTensor parameterGradient(int index, const Where& where = Where::current()) const;
  /** Returns the gradient of a parameter summed over the ranks. TenonLayerGetReducedGradient() */
  DTensor reducedGradient(int index, const Where& where = Where::current()) const;
  /** Returns the tangent (direction) of a parameter. TenonLayerGetParameterTangent() */
  DTensor parameterTangent(int index, const Where& where = Where::current()) const;
  /** Returns the number of state tensors, inner layers included. TenonLayerGetStateCount() */
  int stateCount(const Where& where = Where::current()) const;
  /** Returns a state, for reading and writing. TenonLayerGetState() */
  DTensor state(int index, const Where& where = Where::current()) const;
  /** Switches between training and inference mode. TenonLayerSetTraining() */
  Layer& setTraining(bool training, const Where& where = Where::current());
  /** Sets whether evaluations save what the adjoint needs. TenonLayerSetRecording() */
  Layer& setRecording(bool recording, const Where& where = Where::current());
  /** Freezes or releases all parameters, inner layers included. TenonLayerSetFrozen() */
  Layer& setFrozen(bool frozen, const Where& where = Where::current());
  /** Sets the target of a loss for the next evaluations. TenonLayerSetTarget() */
  Layer& setTarget(const DTensor& target, const Where& where = Where::current());
  /** Sets the weights of a loss for the next evaluations. TenonLayerSetTargetWeights() */
  Layer& setTargetWeights(const DTensor& weights, const Where& where = Where::current());
  /** Evaluates the layer: y <- f(x). TenonLayerApply() */
  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current());
  /** Evaluates the tangent (JVP) at the last evaluation: dy <- J dx. TenonLayerApplyTangent() */
  void applyTangent(const DTensor& dx, DTensor& dy, const Where& where = Where::current());
  /** Evaluates the adjoint (VJP) of the last evaluation: dx <- J* dy. TenonLayerApplyAdjoint() */
  void applyAdjoint(const DTensor& dy, DTensor& dx, const Where& where = Where::current());
  void applyAdjoint(const DTensor& dy, const Where& where = Where::current());
  /** Discards all pending evaluations. TenonLayerClearStack() */
  void clearStack(const Where& where = Where::current());
  /** Sets all parameter gradients to zero. TenonLayerZeroGradients() */
  void zeroGradients(const Where& where = Where::current());
  /** Tests whether the adjoint is that of the tangent, at a point. TenonLayerTestAdjoint() */
  double testAdjoint(const DTensor& x, TenonInt seed, double* tangent = nullptr,
      double* adjoint = nullptr, const Where& where = Where::current());
  /** Tests whether the tangent is the derivative, at a point. TenonLayerTestTaylor() */
  double testTaylor(const DTensor& x, TenonInt seed, double* remainder = nullptr,
      const Where& where = Where::current());
  /** Appends a layer to a sequential layer. TenonLayerSequentialAdd() */
  Layer& add(const Layer& layer, const Where& where = Where::current());
  /** Adds a node that evaluates a layer. TenonLayerGraphAddNode() */
  int addNode(const Layer& layer, List<int> inputs, const Where& where = Where::current());
  /** Returns the layout of a layer's user-supplied boundary values.
   *  TenonLayerGetBoundaryLayout() */
  Layout boundaryLayout(const Layout& input, const Where& where = Where::current()) const;
  /** Prepares a layer with several inputs. TenonLayerSetUpMany() */
  void setUpMany(Handles<TenonLayout> inputs, const Where& where = Where::current());
  /** Creates a tensor for the cotangent of one of several inputs.
   *  TenonLayerCreateInputCotangentAt() */
  DTensor createInputCotangentAt(int input, const Where& where = Where::current()) const;
  /** Evaluates a layer with several inputs. TenonLayerApplyMany() */
  void applyMany(Handles<TenonDTensor> x, DTensor& y, const Where& where = Where::current());
  /** Evaluates the tangent of a layer with several inputs. TenonLayerApplyTangentMany() */
  void applyTangentMany(Handles<TenonDTensor> dx, DTensor& dy,
      const Where& where = Where::current());
  /** Evaluates the adjoint of a layer with several inputs. TenonLayerApplyAdjointMany() */
  void applyAdjointMany(const DTensor& dy, Handles<TenonDTensor> dx,
      const Where& where = Where::current());
  /** Returns the number of inputs of a layer. TenonLayerGetInputCount() */
  int inputCount(const Where& where = Where::current()) const;
  /** Returns the name of an input. TenonLayerGetInputName() */
  std::string inputName(int input, const Where& where = Where::current()) const;
  /** Returns the number of outputs of a layer: 1, but for graphs that say others.
   *  TenonLayerGetOutputCount() */
  int outputCount(const Where& where = Where::current()) const;
  /** Returns the name of an output. TenonLayerGetOutputName() */
  std::string outputName(int output, const Where& where = Where::current()) const;
  /** Returns the layout of one of several outputs. TenonLayerGetOutputLayoutAt() */
  Layout outputLayoutAt(int output, const Where& where = Where::current()) const;
  /** Creates a tensor for one of several outputs. TenonLayerCreateOutputAt() */
  DTensor createOutputAt(int output, const Where& where = Where::current()) const;
  /** Creates a tensor for the cotangent of one of several outputs.
   *  TenonLayerCreateOutputCotangentAt() */
  DTensor createOutputCotangentAt(int output, const Where& where = Where::current()) const;
  /** Evaluates a layer with several inputs and outputs. TenonLayerApplyAll() */
  void applyAll(Handles<TenonDTensor> x, Handles<TenonDTensor> y,
      const Where& where = Where::current());
  /** Evaluates the tangent of a layer with several inputs and outputs.
   *  TenonLayerApplyTangentAll() */
  void applyTangentAll(Handles<TenonDTensor> dx, Handles<TenonDTensor> dy,
      const Where& where = Where::current());
  /** Evaluates the adjoint of a layer with several inputs and outputs.
   *  TenonLayerApplyAdjointAll() */
  void applyAdjointAll(Handles<TenonDTensor> dy, Handles<TenonDTensor> dx,
      const Where& where = Where::current());
  /** Runs the test that a model's file holds. TenonLayerTestModel() */
  void testModel(const Where& where = Where::current());
  /** Writes a network file of a layer, without weights. TenonLayerSaveNetwork() */
  void saveNetwork(Text path, const Where& where = Where::current()) const;
  /** Reads all parameters and running statistics from a weights file. TenonLayerLoadWeights() */
  void loadWeights(Text path, Text map = {}, const Where& where = Where::current());
  /** Writes all parameters and running statistics to a weights file. TenonLayerSaveWeights() */
  void saveWeights(Text path, const Where& where = Where::current()) const;
  /** Returns a layer inside a container. TenonLayerGetChild() */
  Layer child(Text path, const Where& where = Where::current()) const;
  /** Returns the number of layers inside a container. TenonLayerGetChildCount() */
  int childCount(const Where& where = Where::current()) const;
  /** Returns a layer inside a container by its number. TenonLayerGetChildAt() */
  Layer childAt(int index, const Where& where = Where::current()) const;
  /** Returns a parameter by its path, as TenonLayerGetParameter(). TenonLayerGetParameterAt() */
  DTensor parameter(Text path, const Where& where = Where::current()) const;
  /** Returns the number of spatial dimensions, the length of lists such as a stride.
   *  TenonLayerGetSpatialDimensions() */
  int spatialDimensions(const Where& where = Where::current()) const;
  /** Sets the stride of windows. TenonLayerSetStride() */
  Layer& setStride(Ints stride, const Where& where = Where::current());
  /** Sets the padding. TenonLayerSetPadding() */
  Layer& setPadding(Ints low, Ints high = {}, const Where& where = Where::current());
  /** Sets the boundary modes, which give the padding its values. TenonLayerSetBoundary() */
  Layer& setBoundary(List<TenonBoundary> low, List<TenonBoundary> high = {},
      const Where& where = Where::current());
  /** Sets the boundary modes of one channel. TenonLayerSetChannelBoundary() */
  Layer& setChannelBoundary(TenonInt channel, List<TenonBoundary> low,
      List<TenonBoundary> high = {}, const Where& where = Where::current());
  /** Sets the layout of the output of a repartition, add or concatenate layer.
   *  TenonLayerSetOutputLayout() */
  Layer& setOutputLayout(const Layout& output, const Where& where = Where::current());
  /** Returns the index labels of a layer, of which a signature has one for each grid axis.
   *  TenonLayerGetLabels() */
  std::string labels(Ints shape, const Where& where = Where::current()) const;
  /** Creates the Jacobian of a layer at a point. TenonLinearOpCreateJacobian() */
  LinearOp jacobian(const DTensor& x, const Where& where = Where::current()) const;
  /** Hands links to a layer. TenonLayerSetLinks() */
  Layer& setLinks(const Links& links, const Where& where = Where::current());
};

/** @brief TenonMachine: levels of devices, and links between them. */
class Machine : public Settings<Machine, Object<Machine, TenonMachine>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Machine share(const Where& where = Where::current()) const {
    return Machine(this->retained(where));
  }
  /** Creates a machine of given levels, without links. TenonMachineCreate() */
  Machine(Text name, List<const char*> names, Ints sizes, const Where& where = Where::current());
  /** Creates a machine from a description file. TenonMachineCreateFromFile() */
  static Machine fromFile(Text nameOrPath, TenonInt nodes, const Where& where = Where::current());
  /** Creates a machine of this computer and its cores, without links. TenonMachineCreateLocal() */
  static Machine local(const Where& where = Where::current());
  /** Creates the machine of a job; its devices are the ranks. TenonMachineCreateFromComm() */
  static Machine fromComm(MPI_Comm comm, const Where& where = Where::current());
  /** Measures the machine of a job. TenonMachineMeasure() */
  static Machine measure(MPI_Comm comm, TenonMemorySpace space, int rounds,
      const Where& where = Where::current());
  /** Writes a description file of the machine. TenonMachineSave() */
  void save(Text path, const Where& where = Where::current()) const;
  /** Adds a link to the machine. TenonMachineAddLink() */
  Machine& addLink(Text name, int level, TenonInt units, double bandwidth, double latency,
      TenonLinkRule rule, const Where& where = Where::current());
  /** What counts() returns. */
  struct Counts {
    int levels;
    int links;
    TenonInt devices;
  };
  /** Returns the numbers of levels, links and devices. TenonMachineGetCounts() */
  Counts counts(const Where& where = Where::current()) const;
  /** What level() returns. */
  struct Level {
    std::string name;
    TenonInt size;
  };
  /** Returns name and size of a level. TenonMachineGetLevel() */
  Level level(int level, const Where& where = Where::current()) const;
  /** What link() returns. */
  struct Link {
    std::string name;
    int level;
    TenonInt units;
    double bandwidth;
    double latency;
  };
  /** Returns name, level and rates of a link. TenonMachineGetLink() */
  Link link(int link, const Where& where = Where::current()) const;
  /** Returns the ranks of the devices, or the cores of this computer. TenonMachineGetRanks() */
  std::vector<TenonInt> ranks(const Where& where = Where::current()) const;
};

/** @brief TenonOptimizer: updates the parameters of a layer. */
class Optimizer : public Settings<Optimizer, Object<Optimizer, TenonOptimizer>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Optimizer share(const Where& where = Where::current()) const {
    return Optimizer(this->retained(where));
  }
  /** Creates an optimizer for all parameters of a layer. TenonOptimizerCreate() */
  Optimizer(const Layer& layer, Text type, const Where& where = Where::current());
  /** Sets the learning rate. TenonOptimizerSetLearningRate() */
  Optimizer& setLearningRate(double rate, const Where& where = Where::current());
  /** Reports a loss, of training or validation. TenonOptimizerReport() */
  bool report(double loss, const Where& where = Where::current());
  /** Returns the learning rate of the next step. TenonOptimizerGetLearningRate() */
  double learningRate(const Where& where = Where::current()) const;
  /** Scales the gradients so that their norm is at most the maximum.
   *  TenonOptimizerClipGradientNorm() */
  double clipGradientNorm(double maximum, const Where& where = Where::current());
  /** Updates all parameters and clears their gradients. TenonOptimizerStep() */
  void step(const Where& where = Where::current());
  /** Evaluates the loss and updates all parameters. TenonOptimizerStepClosure() */
  double stepClosure(Function<double(Optimizer&)> closure, const Where& where = Where::current());
  /** Returns the number of updates so far. TenonOptimizerGetSteps() */
  TenonInt steps(const Where& where = Where::current()) const;
};

/** @brief TenonDataset: labelled samples in batches. */
class Dataset : public Settings<Dataset, Object<Dataset, TenonDataset>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Dataset share(const Where& where = Where::current()) const {
    return Dataset(this->retained(where));
  }
  /** Opens and checks the two files, on all ranks. TenonDatasetCreateIDX() */
  Dataset(MPI_Comm comm, Text images, Text labels, const Where& where = Where::current());
  /** Opens and checks datasets of an HDF5 file, on all ranks. TenonDatasetCreateHDF5() */
  static Dataset hdf5(MPI_Comm comm, Text path, Text data, Text labels = {},
      const Where& where = Where::current());
  /** Returns the shape of the samples. TenonDatasetGetShape() */
  std::vector<TenonInt> shape(const Where& where = Where::current()) const;
  /** Sets the layouts of the batches. TenonDatasetSetUp() */
  void setUp(const Layout& x, const Layout& labels, const Where& where = Where::current());
  void setUp(const Layout& x, const Where& where = Where::current());
  /** Returns the number of complete batches in an epoch. TenonDatasetGetBatchCount() */
  TenonInt batches(const Where& where = Where::current()) const;
  /** Fills this rank's local block of a batch. TenonDatasetGetBatch() */
  void batch(TenonInt epoch, TenonInt batch, DTensor& x, DTensor& labels,
      const Where& where = Where::current()) const;
  void batch(TenonInt epoch, TenonInt batch, DTensor& x,
      const Where& where = Where::current()) const;
};

/** @brief TenonCheckpoint: state of a run in a file. */
class Checkpoint : public Settings<Checkpoint, Object<Checkpoint, TenonCheckpoint>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Checkpoint share(const Where& where = Where::current()) const {
    return Checkpoint(this->retained(where));
  }
  /** Creates an empty checkpoint. TenonCheckpointCreate() */
  explicit Checkpoint(MPI_Comm comm, const Where& where = Where::current());
  /** Prints what a file holds, and verifies all its digests. TenonCheckpointViewFile() */
  static void viewFile(Text path, const Where& where = Where::current());
  /** Returns what a file holds, without the values of its tensors, for programs.
   *  TenonCheckpointGetContents() */
  static std::string contents(Text path, const Where& where = Where::current());
  /** Adds a layer with the layers in it. TenonCheckpointAddLayer() */
  Checkpoint& addLayer(const Layer& layer, Text name, const Where& where = Where::current());
  /** Adds an optimizer: its number of steps and its tensors. TenonCheckpointAddOptimizer() */
  Checkpoint& addOptimizer(const Optimizer& optimizer, Text name,
      const Where& where = Where::current());
  /** Adds a tensor, such as a field of the solver. TenonCheckpointAddTensor() */
  Checkpoint& addTensor(const DTensor& tensor, Text name, const Where& where = Where::current());
  /** Sets an integer, which is written to the file. TenonCheckpointSetInt() */
  Checkpoint& setIntEntry(Text key, TenonInt value, const Where& where = Where::current());
  /** Sets a real number, which is written to the file. TenonCheckpointSetReal() */
  Checkpoint& setRealEntry(Text key, double value, const Where& where = Where::current());
  /** Sets a text, which is written to the file. TenonCheckpointSetString() */
  Checkpoint& setStringEntry(Text key, Text value, const Where& where = Where::current());
  /** Returns an integer that was set, or read from a file. TenonCheckpointGetInt() */
  TenonInt intEntry(Text key, const Where& where = Where::current()) const;
  /** Returns a real number that was set, or read from a file. TenonCheckpointGetReal() */
  double realEntry(Text key, const Where& where = Where::current()) const;
  /** Returns a text that was set, or read from a file. TenonCheckpointGetString() */
  std::string stringEntry(Text key, const Where& where = Where::current()) const;
  /** Writes a file. TenonCheckpointWrite() */
  void write(Text path, const Where& where = Where::current());
  /** Writes the file step-STEP.h5 of a folder. TenonCheckpointWriteStep() */
  void writeStep(Text folder, TenonInt step, const Where& where = Where::current());
  /** Reads a file into the objects that were added. TenonCheckpointRead() */
  void read(Text path, const Where& where = Where::current());
  /** Reads the latest whole file step-N.h5 of a folder. TenonCheckpointReadLatest() */
  TenonInt readLatest(Text folder, const Where& where = Where::current());
  /** Lets a signal be noted instead of ending the program. TenonCheckpointOnSignal() */
  void onSignal(int signal, const Where& where = Where::current());
  /** Returns whether the signal has come to any rank. TenonCheckpointGetSignal() */
  int signal(const Where& where = Where::current()) const;
};

/** @brief TenonFieldSeries: fields over time, for ParaView. */
class FieldSeries : public Settings<FieldSeries, Object<FieldSeries, TenonFieldSeries>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  FieldSeries share(const Where& where = Where::current()) const {
    return FieldSeries(this->retained(where));
  }
  /** Creates a series without fields. TenonFieldSeriesCreate() */
  FieldSeries(MPI_Comm comm, Text path, int spatial, const Where& where = Where::current());
  /** Sets the grid. TenonFieldSeriesSetGrid() */
  FieldSeries& setGrid(List<double> origin, List<double> spacing,
      const Where& where = Where::current());
  /** Sets a mesh in place of the grid. TenonFieldSeriesSetMesh() */
  FieldSeries& setMesh(const IndexMap& cells, Text shape, const IndexMap& nodes, Ints corner,
      List<double> places, const Where& where = Where::current());
  /** Adds a field. TenonFieldSeriesAddTensor() */
  FieldSeries& addTensor(const DTensor& tensor, Text name, Text components = {},
      const Where& where = Where::current());
  /** Writes the fields of one time. TenonFieldSeriesWrite() */
  void write(TenonInt step, double time, const Where& where = Where::current());
};

/** @brief TenonPlacementList: placements of a job on a system. */
class PlacementList : public Settings<PlacementList, Object<PlacementList, TenonPlacementList>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  PlacementList share(const Where& where = Where::current()) const {
    return PlacementList(this->retained(where));
  }
  /** Lists all placements of the axes on the system. TenonPlacementListCreate() */
  PlacementList(Ints system, Ints sizes, const Where& where = Where::current());
  /** Returns the number of placements. TenonPlacementListGetCount() */
  TenonInt count(const Where& where = Where::current()) const;
  /** Returns the matrix of a placement. TenonPlacementListGetMatrix() */
  void matrix(TenonInt index, Array<TenonInt> matrix, const Where& where = Where::current()) const;
  /** Returns the levels of a reduction over some axes. TenonPlacementListGetHierarchy() */
  int hierarchy(TenonInt index, List<int> reduce, Array<TenonInt> hierarchy,
      const Where& where = Where::current()) const;
  /** Adds a reduction of one step of the job, for which a placement is to be chosen.
   *  TenonPlacementListAddReduction() */
  PlacementList& addReduction(List<int> reduce, double bytes,
      const Where& where = Where::current());
  /** What predict() returns. */
  struct PredictResult {
    std::vector<double> seconds;
    TenonInt best;
  };
  /** Predicts how long all reductions that were added take on a machine, one after the other,
   *  for each placement, and returns the fastest placement. TenonPlacementListPredict() */
  PredictResult predict(const Machine& machine, TenonReductionAlgorithm algorithm, int sizeLimit,
      const Where& where = Where::current()) const;
};

/** @brief TenonReductionPrograms: multi-step reductions. */
class ReductionPrograms : public Settings<ReductionPrograms, Object<ReductionPrograms, TenonReductionPrograms>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  ReductionPrograms share(const Where& where = Where::current()) const {
    return ReductionPrograms(this->retained(where));
  }
  /** Lists all programs of limited size that reduce over some axes.
   *  TenonReductionProgramsCreate() */
  ReductionPrograms(const PlacementList& list, TenonInt index, List<int> reduce, int sizeLimit,
      const Where& where = Where::current());
  /** Returns the number of programs. TenonReductionProgramsGetCount() */
  TenonInt count(const Where& where = Where::current()) const;
  /** Returns the number of steps of a program. TenonReductionProgramsGetSize() */
  int size(TenonInt index, const Where& where = Where::current()) const;
  /** Returns a program in the notation at the top of this file. TenonReductionProgramsGetText() */
  std::string text(TenonInt index, const Where& where = Where::current()) const;
  /** What step() returns. */
  struct Step {
    TenonCollective collective;
    int groups;
    int members;
  };
  /** Returns collective and group sizes of a step. TenonReductionProgramsGetStep() */
  Step step(TenonInt index, int step, const Where& where = Where::current()) const;
  /** Returns the devices of the groups of a step. TenonReductionProgramsGetGroups() */
  std::vector<int> groups(TenonInt index, int step, const Where& where = Where::current()) const;
  /** Predicts the time of each program on a machine. TenonReductionProgramsPredict() */
  std::vector<double> predict(const Machine& machine, TenonReductionAlgorithm algorithm,
      double bytes, const Where& where = Where::current()) const;
};

/** @brief TenonPlan: parallelisation of a network, layer by layer. */
class Plan : public Settings<Plan, Object<Plan, TenonPlan>> {
public:
  using Settings::Settings;
  /** A second reference to the same object. */
  Plan share(const Where& where = Where::current()) const {
    return Plan(this->retained(where));
  }
  /** Creates a plan for a network of layers. TenonPlanCreate() */
  Plan(const Layer& network, TenonInt batch, const Where& where = Where::current());
  /** Sets the layout of the input, which the plan does not choose then. TenonPlanSetInput() */
  Plan& setInput(const Layout& layout, const Where& where = Where::current());
  /** Sets the layout of one of several inputs, as TenonPlanSetInput() does of the only one.
   *  TenonPlanSetInputAt() */
  Plan& setInputAt(int input, const Layout& layout, const Where& where = Where::current());
  /** Sets the layout of the output, which the plan does not choose then. TenonPlanSetOutput() */
  Plan& setOutput(const Layout& layout, const Where& where = Where::current());
  /** Sets the machine that the processes run on. TenonPlanSetMachine() */
  Plan& setMachine(const Machine& machine, const Where& where = Where::current());
  /** Fixes the word of a layer. TenonPlanFix() */
  void fix(Text layer, Text word, const Where& where = Where::current());
  /** Finds the plan that takes the least time. TenonPlanSearch() */
  void search(const Where& where = Where::current());
  /** Sets the network up as planned. TenonPlanSetUp() */
  void setUp(const Where& where = Where::current());
  /** Writes the plan to a file. TenonPlanSave() */
  void save(Text path, const Where& where = Where::current()) const;
  /** Takes the plan from a file in place of a search. TenonPlanLoad() */
  void load(Text path, const Where& where = Where::current());
  /** Returns a number of the plan, or of one of its layers. TenonPlanGetNumber() */
  double number(Text layer, Text name, const Where& where = Where::current()) const;
  /** Returns the name of a planned layer. TenonPlanGetLayerName() */
  std::string layerName(TenonInt index, const Where& where = Where::current()) const;
  /** Returns the word of a layer, or the best other one. TenonPlanGetText() */
  std::string text(Text layer, Text name, const Where& where = Where::current()) const;
  /** Prints predicted beside measured times, messages and bytes. TenonPlanReport() */
  void report(const Where& where = Where::current());
  /** What calibrate() returns. */
  struct CalibrateResult {
    double latency;
    double bandwidth;
    double flops;
  };
  /** Returns the rates that explain best what TenonPlanReport() shows. TenonPlanCalibrate() */
  CalibrateResult calibrate(const Where& where = Where::current());
  /** Takes the rates that best explain what was measured of another plan.
   *  TenonPlanSetRatesFrom() */
  Plan& setRatesFrom(const Plan& measured, const Where& where = Where::current());
  /** Returns what is run: the network, followed by redistribution where needed.
   *  TenonPlanGetLayer() */
  Layer layer(const Where& where = Where::current()) const;
  /** Returns the layout of the input. TenonPlanGetInputLayout() */
  Layout inputLayout(const Where& where = Where::current()) const;
  /** Returns the layout of one of several inputs. TenonPlanGetInputLayoutAt() */
  Layout inputLayoutAt(int input, const Where& where = Where::current()) const;
  /** Evaluates the network. TenonPlanApply() */
  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current());
  /** Evaluates the tangent of the network. TenonPlanApplyTangent() */
  void applyTangent(const DTensor& dx, DTensor& dy, const Where& where = Where::current());
  /** Evaluates the adjoint of the network. TenonPlanApplyAdjoint() */
  void applyAdjoint(const DTensor& dy, DTensor& dx, const Where& where = Where::current());
  void applyAdjoint(const DTensor& dy, const Where& where = Where::current());
};

/** Returns the sentence of an error code ("incompatible shapes"). TenonErrorString() */
std::string errorString(TenonErrorCode code);
/** Returns the name of an error code ("TENON_ERR_SHAPE"). TenonErrorName() */
std::string errorName(TenonErrorCode code);
/** What lastError() returns. */
struct LastError {
  TenonErrorCode code;
  std::string message;
};
/** Returns the last error of the calling thread. TenonGetLastError() */
LastError lastError(const Where& where = Where::current());
/** Returns the record of the last error, with its call stack. TenonGetLastErrorReport() */
std::string lastErrorReport(const Where& where = Where::current());
/** Sets the error handler of the process. TenonPushErrorHandler() */
void pushErrorHandler(TenonErrorHandler handler, void* context = nullptr,
    const Where& where = Where::current());
/** Removes the error handler that was pushed last. TenonPopErrorHandler() */
void popErrorHandler(const Where& where = Where::current());
/** Sets the handler of fatal errors. TenonSetFatalErrorHandler() */
void setFatalErrorHandler(TenonErrorHandler handler = nullptr, void* context = nullptr,
    const Where& where = Where::current());
/** Ends the program on all ranks, by MPI_Abort() if MPI is running. TenonAbort() */
void abort(TenonErrorCode code);
/** Sets a line that printed errors about dimensions have below their text.
 *  TenonSetDimensionNote() */
void setDimensionNote(Text note = {}, const Where& where = Where::current());
/** Returns whether Tenon is initialised. TenonInitialized() */
bool initialized(const Where& where = Where::current());
/** Returns the C handle of a Fortran communicator. TenonCommFromFortran() */
MPI_Comm commFromFortran(int fcomm, const Where& where = Where::current());
/** What version() returns. */
struct Version {
  int major;
  int minor;
  int patch;
};
/** Returns the version of the library. TenonGetVersion() */
Version version(const Where& where = Where::current());
/** Returns what is known of the library and of this computer. TenonGetInfo() */
std::string info(Text what, const Where& where = Where::current());
/** Turns the log on or off, like -tenon_log_view at the start. TenonLogEnable() */
void logEnable(bool on, const Where& where = Where::current());
/** Returns the number of the event with a given name. TenonLogEventRegister() */
int logEventRegister(Text name, const Where& where = Where::current());
/** Begins an event; events can be nested. TenonLogEventBegin() */
void logEventBegin(int event, const Where& where = Where::current());
/** Ends the innermost event. TenonLogEventEnd() */
void logEventEnd(int event, const Where& where = Where::current());
/** Adds floating-point operations to the innermost event. TenonLogFlops() */
void logFlops(double flops, const Where& where = Where::current());
/** What logWork() returns. */
struct LogWork {
  double seconds;
  double flops;
  TenonInt messages;
  TenonInt bytes;
};
/** Returns what this rank has done in the innermost open event so far. TenonLogGetWork() */
LogWork logWork(const Where& where = Where::current());
/** Returns what this rank has logged, for programs. TenonLogGetRecords() */
std::string logRecords(const Where& where = Where::current());
/** Begins a stage, to which events count until TenonLogStagePop(). TenonLogStagePush() */
void logStagePush(Text name, const Where& where = Where::current());
/** Returns to the previous stage. TenonLogStagePop() */
void logStagePop(const Where& where = Where::current());
/** Reports the progress of a long computation. TenonProgressShow() */
void progressShow(Text name, TenonInt done, TenonInt total, Text valueName, double value,
    const Where& where = Where::current());
/** Declares an option of the program, written -name. TenonOptionsDeclare() */
void optionsDeclare(Text owner, Text name, TenonOptionType type, Text defaultValue = {},
    Text help = {}, Text choices = {}, const Where& where = Where::current());
/** Declares that the command line has no options of other libraries.
 *  TenonOptionsOwnCommandLine() */
void optionsOwnCommandLine(const Where& where = Where::current());
/** Sets an option. TenonOptionsSet() */
void optionsSet(Text key, Text value = {}, const Where& where = Where::current());
/** Reads an options file: one option per line, # begins a comment. TenonOptionsInsertFile() */
void optionsInsertFile(Text path, const Where& where = Where::current());
/** Returns the value of a flag, or its default. TenonOptionsGetFlag() */
bool optionsGetFlag(Text prefix, Text name, const Where& where = Where::current());
/** Returns the value of an integer option, or its default. TenonOptionsGetInt() */
TenonInt optionsGetInt(Text prefix, Text name, const Where& where = Where::current());
/** Returns the values of an option of integers, or its default. TenonOptionsGetIntegers() */
std::vector<TenonInt> optionsGetIntegers(Text prefix, Text name,
    const Where& where = Where::current());
/** Returns the value of a real option, or its default. TenonOptionsGetReal() */
double optionsGetReal(Text prefix, Text name, const Where& where = Where::current());
/** Returns the value of a text, choice or word, or its default. TenonOptionsGetString() */
std::string optionsGetString(Text prefix, Text name, const Where& where = Where::current());
/** Returns whether an option was given by any source. TenonOptionsHas() */
bool optionsHas(Text prefix, Text name, const Where& where = Where::current());
/** Returns the number of declared options, of all classes and the program.
 *  TenonOptionsGetDeclaredCount() */
int optionsDeclaredCount(const Where& where = Where::current());
/** Returns a text of a declared option. TenonOptionsGetDeclaredText() */
std::string optionsDeclaredText(int index, TenonOptionText which,
    const Where& where = Where::current());
/** Prints the options that contain a word, with default, value and source. TenonOptionsHelp() */
void optionsHelp(Text word = {}, const Where& where = Where::current());
/** Sets the receiver of views, logs and help. TenonSetOutputHandler() */
void setOutputHandler(TenonTextHandler handler = nullptr, void* context = nullptr,
    const Where& where = Where::current());
/** Sets the receiver of errors and warnings. TenonSetErrorOutputHandler() */
void setErrorOutputHandler(TenonTextHandler handler = nullptr, void* context = nullptr,
    const Where& where = Where::current());
/** Writes a file as a whole, or leaves what was there. TenonWriteFile() */
void writeFile(Text path, std::string_view text = {}, const Where& where = Where::current());

} // namespace tenon

#endif
