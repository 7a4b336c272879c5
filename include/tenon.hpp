// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief The C interface for C++17: handles that release themselves, lists with their length, typed
 *         arrays, and exceptions.
 *
 *  Every call here is a call of the C interface, where its documentation stands: x.norm() is
 *  TenonDTensorNorm(x, &norm), and is collective if that is. Nothing is added, so that programs can
 *  mix both: a handle converts to the C handle, check() turns the code of any C call into an
 *  exception, and out() takes what a C call returns:
 *
 *      tenon::Machine machine;
 *      tenon::check(TenonMachineCreateFromComm(comm, machine.out()));
 *
 *  - Handles (Layout, DTensor, Layer, ...) can be moved, not copied; share() is a second reference
 *    to the same object. A moved handle, and one made without arguments, is empty.
 *  - Lists of numbers are braced lists, arrays, std::vector, or whatever has data() and size(), such
 *    as std::span. Their length is checked.
 *  - Errors are exceptions of class Error, with code, message and call stack. A Session turns off
 *    the printing of errors that are thrown. As in C, an error that other ranks do not know, in
 *    apply() on several ranks, ends the program.
 *  - array<T>() lends the local array of a tensor until the Loan goes out of scope, and place() puts
 *    an array of the program into a tensor until the Placement does.
 */
#ifndef TENON_HPP
#define TENON_HPP

#include <tenon.h>

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon {

/** @brief The place of a call, for the call stack of an error; made by default arguments. */
struct Where {
  const char* function;
  const char* file;
  int line;

#if defined(__GNUC__)
  static constexpr Where current(const char* function = __builtin_FUNCTION(),
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {function, file, line};
  }
#else
  static constexpr Where current() {
    return {"", "", 0};
  }
#endif
};

/** @brief What a failed call throws. what() is the report with the call stack, as
 *         TenonGetLastErrorReport() gives it. */
class Error : public std::runtime_error {
public:
  Error(TenonErrorCode code, std::string message, const std::string& report)
      : std::runtime_error(report), code_(code), message_(std::move(message)) {}

  TenonErrorCode code() const noexcept { return code_; }
  /** What was passed, and what was expected. */
  const std::string& message() const noexcept { return message_; }

private:
  TenonErrorCode code_;
  std::string message_;
};

namespace detail {

// The text of a call that fills (char text[], TenonInt length, TenonInt* needed); none if it fails.
template <class Call>
std::string textOf(Call call) {
  TenonInt needed = 0;
  if (call(nullptr, 0, &needed) != TENON_SUCCESS || needed < 1)
    return {};
  std::string text(static_cast<std::size_t>(needed), '\0');
  if (call(text.data(), needed, nullptr) != TENON_SUCCESS)
    return {};
  text.resize(text.size() - 1);
  return text;
}

[[noreturn]] inline void fail(TenonErrorCode code, const Where& where) {
  TenonAddFrame(code, where.function, where.file, where.line);
  std::string message = textOf([](char* text, TenonInt length, TenonInt* needed) {
    return TenonGetLastError(nullptr, text, length, needed);
  });
  throw Error(code, std::move(message), textOf(TenonGetLastErrorReport));
}

template <class... Parameters, class... Arguments>
void run(const Where& where, TenonErrorCode (*function)(Parameters...) noexcept,
         Arguments&&... arguments) {
  TenonNoteCaller(where.function, where.file, where.line);
  const TenonErrorCode code = function(std::forward<Arguments>(arguments)...);
  if (code != TENON_SUCCESS)
    fail(code, where);
}

template <class T>
constexpr TenonDataType dataType() {
  using Element = std::remove_const_t<T>;
  static_assert(std::is_same_v<Element, float> || std::is_same_v<Element, double> ||
                    std::is_same_v<Element, TenonInt>,
                "elements are float, double or TenonInt");
  return std::is_same_v<Element, float>    ? TENON_FLOAT32
         : std::is_same_v<Element, double> ? TENON_FLOAT64
                                           : TENON_INT64;
}

// How the object behind a handle is released.
inline TenonErrorCode destroy(TenonPartition* handle) {
  return TenonPartitionDestroy(handle);
}
inline TenonErrorCode destroy(TenonLayout* handle) {
  return TenonLayoutDestroy(handle);
}
inline TenonErrorCode destroy(TenonDTensor* handle) {
  return TenonDTensorDestroy(handle);
}
inline TenonErrorCode destroy(TenonLinearOp* handle) {
  return TenonLinearOpDestroy(handle);
}
inline TenonErrorCode destroy(TenonLayer* handle) {
  return TenonLayerDestroy(handle);
}
inline TenonErrorCode destroy(TenonMachine* handle) {
  return TenonMachineDestroy(handle);
}
inline TenonErrorCode destroy(TenonOptimizer* handle) {
  return TenonOptimizerDestroy(handle);
}
inline TenonErrorCode destroy(TenonDataset* handle) {
  return TenonDatasetDestroy(handle);
}
inline TenonErrorCode destroy(TenonTrainer* handle) {
  return TenonTrainerDestroy(handle);
}
inline TenonErrorCode destroy(TenonPlacementList* handle) {
  return TenonPlacementListDestroy(handle);
}
inline TenonErrorCode destroy(TenonReductionPrograms* handle) {
  return TenonReductionProgramsDestroy(handle);
}
inline TenonErrorCode destroy(TenonPlan* handle) {
  return TenonPlanDestroy(handle);
}

} // namespace detail

/** @brief Throws the last error if the code is one: tenon::check(TenonLayerView(layer)). */
inline void check(TenonErrorCode code, const Where& where = Where::current()) {
  if (code != TENON_SUCCESS)
    detail::fail(code, where);
}

/** @brief A list of constant numbers that somebody else holds. */
template <class T>
class List {
public:
  List() = default;
  List(const T* first, std::size_t size) : first_(first), size_(size) {}
  /* For the length of a call: the list in braces lives as long as the call. */
  List(std::initializer_list<T> list) : first_(std::data(list)), size_(list.size()) {}
  template <std::size_t n>
  List(const T (&array)[n]) : first_(array), size_(n) {}
  template <class Container, class = std::enable_if_t<std::is_convertible_v<
                                 decltype(std::declval<const Container&>().data()), const T*>>>
  List(const Container& list) : first_(list.data()), size_(list.size()) {}

  const T* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }

private:
  const T* first_ = nullptr;
  std::size_t size_ = 0;
};

using Ints = List<TenonInt>;

/** @brief One reference to an object; the base of all classes with methods. */
template <class C>
class Handle {
public:
  Handle() = default;
  /** Takes over a reference that a C call has returned. */
  explicit Handle(C handle) noexcept : handle_(handle) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    C handle = other.release();
    reset();
    handle_ = handle;
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator C() const noexcept { return handle_; }
  C get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** The C handle, which the caller then destroys. */
  C release() noexcept { return std::exchange(handle_, nullptr); }
  void reset() noexcept { detail::destroy(&handle_); }
  /** Where a C call puts a new handle. */
  C* out() noexcept {
    reset();
    return &handle_;
  }

  void setName(const std::string& name, const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetName, object(), name.c_str());
  }
  void setOptionsPrefix(const std::string& prefix, const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetOptionsPrefix, object(), prefix.c_str());
  }
  std::string name() const {
    return detail::textOf([this](char* text, TenonInt length, TenonInt* needed) {
      return TenonObjectGetName(object(), text, length, needed);
    });
  }
  MPI_Comm comm(const Where& where = Where::current()) const {
    MPI_Comm comm = MPI_COMM_NULL;
    detail::run(where, TenonObjectGetComm, object(), &comm);
    return comm;
  }

protected:
  C retained(const Where& where) const {
    detail::run(where, TenonObjectRetain, object());
    return handle_;
  }
  TenonObject object() const noexcept { return reinterpret_cast<TenonObject>(handle_); }

private:
  C handle_ = nullptr;
};

using Machine = Handle<TenonMachine>;
using PlacementList = Handle<TenonPlacementList>;
using ReductionPrograms = Handle<TenonReductionPrograms>;
using Plan = Handle<TenonPlan>;

/** @brief Tenon, initialised and finalised. Errors are thrown instead of printed meanwhile. A session
 *         that is left by an exception is not finalised, since other ranks may not take part. */
class Session {
public:
  Session(int& argc, char**& argv, const char* help = nullptr,
          const Where& where = Where::current())
      : exceptions_(std::uncaught_exceptions()) {
    detail::run(where, TenonInitialize, &argc, &argv, help);
    check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr), where);
  }
  explicit Session(MPI_Comm comm, const Where& where = Where::current())
      : exceptions_(std::uncaught_exceptions()) {
    detail::run(where, TenonInitializeWithComm, comm, nullptr, nullptr, nullptr);
    check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr), where);
  }
  ~Session() {
    TenonPopErrorHandler();
    if (std::uncaught_exceptions() == exceptions_)
      TenonFinalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

private:
  int exceptions_;
};

class Partition : public Handle<TenonPartition> {
public:
  using Handle::Handle;
  Partition(MPI_Comm comm, List<int> extents, const Where& where = Where::current()) {
    detail::run(where, TenonPartitionCreate, comm, static_cast<int>(extents.size()), extents.data(),
                out());
  }
  Partition share(const Where& where = Where::current()) const {
    return Partition(retained(where));
  }
};

class Layout : public Handle<TenonLayout> {
public:
  using Handle::Handle;
  /** From properties such as "S0,B": TenonLayoutCreateSharded(). */
  Layout(const Partition& partition, Ints shape, const char* properties,
         const Where& where = Where::current()) {
    detail::run(where, TenonLayoutCreateSharded, partition, static_cast<int>(shape.size()),
                shape.data(), properties, out());
  }
  /** From the box that this rank holds: TenonLayoutCreateFromBoxes(). */
  Layout(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where = Where::current()) {
    if (low.size() != shape.size() || high.size() != shape.size())
      throw std::length_error("tenon::Layout: shape, low and high must have one length");
    detail::run(where, TenonLayoutCreateFromBoxes, comm, static_cast<int>(shape.size()),
                shape.data(), low.data(), high.data(), out());
  }
  Layout share(const Where& where = Where::current()) const { return Layout(retained(where)); }

  Layout dual(const Where& where = Where::current()) const {
    Layout made;
    detail::run(where, TenonLayoutGetDual, get(), made.out());
    return made;
  }
  int dimensions(const Where& where = Where::current()) const {
    int count = 0;
    detail::run(where, TenonLayoutGetDim, get(), &count);
    return count;
  }
  std::vector<TenonInt> shape(const Where& where = Where::current()) const {
    std::vector<TenonInt> extents(static_cast<std::size_t>(dimensions(where)));
    detail::run(where, TenonLayoutGetShape, get(), extents.data());
    return extents;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonLayoutView, get());
  }
};

/** @brief First and last index (excluded) of a rank's elements in each dimension. */
struct Box {
  std::vector<TenonInt> low, high;
};

/** @brief The local array of a tensor, lent until the loan goes out of scope: of T for writing, of
 *         const T for reading. It must end before the tensor is used otherwise. */
template <class T>
class Loan {
public:
  Loan(TenonDTensor x, const Where& where) {
    if constexpr (kReads)
      detail::run(where, TenonDTensorGetArrayRead, x, detail::dataType<T>(), &array_);
    else
      detail::run(where, TenonDTensorGetArray, x, detail::dataType<T>(), &array_);
    x_ = x;
    try {
      describe(where);
    } catch (...) {
      restore();
      throw;
    }
  }
  ~Loan() { restore(); }
  Loan(Loan&& other) noexcept
      : x_(std::exchange(other.x_, nullptr)), array_(std::exchange(other.array_, nullptr)),
        size_(std::exchange(other.size_, 0)), strides_(std::move(other.strides_)),
        isContiguous_(other.isContiguous_) {}
  Loan& operator=(Loan&&) = delete;

  /** The first element of this rank's box. */
  T* data() const noexcept { return static_cast<T*>(array_); }
  /** The number of elements in the box. */
  std::size_t size() const noexcept { return size_; }
  /** In elements, for each dimension. */
  const std::vector<TenonInt>& strides() const noexcept { return strides_; }
  T& operator[](std::ptrdiff_t offset) const { return data()[offset]; }
  /** All elements in row-major order; of a tensor that is not contiguous an exception. */
  T* begin() const {
    if (!isContiguous_)
      throw std::logic_error("tenon::Loan: the array is not contiguous; use its strides");
    return data();
  }
  T* end() const { return begin() + size_; }

private:
  static constexpr bool kReads = std::is_const_v<T>;
  using Address = std::conditional_t<kReads, const void*, void*>;

  void describe(const Where& where) {
    TenonInt elements = 0;
    detail::run(where, TenonDTensorGetLocalSize, x_, &elements);
    size_ = static_cast<std::size_t>(elements);
    Layout layout;
    detail::run(where, TenonDTensorGetLayout, x_, layout.out());
    const auto dimensions = static_cast<std::size_t>(layout.dimensions(where));
    std::vector<TenonInt> low(dimensions), high(dimensions);
    strides_.resize(dimensions);
    detail::run(where, TenonDTensorGetBox, x_, low.data(), high.data());
    detail::run(where, TenonDTensorGetStrides, x_, strides_.data());
    TenonInt expected = 1;
    for (std::size_t d = dimensions; size_ > 0 && d-- > 0; expected *= high[d] - low[d])
      isContiguous_ = isContiguous_ && (high[d] - low[d] == 1 || strides_[d] == expected);
  }
  void restore() noexcept {
    if (!x_)
      return;
    if constexpr (kReads)
      TenonDTensorRestoreArrayRead(x_, &array_);
    else
      TenonDTensorRestoreArray(x_, &array_);
    x_ = nullptr;
  }

  TenonDTensor x_ = nullptr;
  Address array_ = nullptr;
  std::size_t size_ = 0;
  std::vector<TenonInt> strides_;
  bool isContiguous_ = true;
};

/** @brief How an array of the program holds a tensor, as in TenonDTensorPlaceArray(). Empty lists are
 *         those that may be NULL there; a length of 0 is not checked. */
struct Arrangement {
  Ints strides = {}, ghostsLow = {}, ghostsHigh = {};
  TenonInt length = 0;
};

/** @brief A tensor that uses an array of the program, until the placement goes out of scope. */
class Placement {
public:
  /** Takes over a reference. */
  explicit Placement(TenonDTensor x) noexcept : x_(x) {}
  ~Placement() {
    if (x_)
      TenonDTensorResetArray(x_);
    TenonDTensorDestroy(&x_);
  }
  Placement(Placement&& other) noexcept : x_(std::exchange(other.x_, nullptr)) {}
  Placement& operator=(Placement&&) = delete;

private:
  TenonDTensor x_;
};

class DTensor : public Handle<TenonDTensor> {
public:
  using Handle::Handle;
  DTensor(const Layout& layout, TenonDataType type, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorCreate, layout, type, out());
  }
  DTensor share(const Where& where = Where::current()) const { return DTensor(retained(where)); }

  /** The local array, for writing and for reading. */
  template <class T>
  Loan<T> array(const Where& where = Where::current()) {
    static_assert(!std::is_const_v<T>, "read<T>() lends for reading");
    return Loan<T>(get(), where);
  }
  template <class T>
  Loan<const T> read(const Where& where = Where::current()) const {
    return Loan<const T>(get(), where);
  }
  /** The first element that the rank owns, in an array of const elements for reading only. Keep what
   *  is returned as long as the tensor shall use the array. */
  template <class T>
  [[nodiscard]] Placement place(T* firstOwned, const Arrangement& a = {},
                                const Where& where = Where::current()) {
    checkPlace(detail::dataType<T>(), a, where);
    const TenonInt *strides = orNull(a.strides), *low = orNull(a.ghostsLow),
                   *high = orNull(a.ghostsHigh);
    if constexpr (std::is_const_v<T>)
      detail::run(where, TenonDTensorPlaceArrayRead, get(), firstOwned, strides, low, high,
                  a.length);
    else
      detail::run(where, TenonDTensorPlaceArray, get(), firstOwned, strides, low, high, a.length);
    return Placement(retained(where));
  }

  Layout layout(const Where& where = Where::current()) const {
    Layout made;
    detail::run(where, TenonDTensorGetLayout, get(), made.out());
    return made;
  }
  TenonDataType dataType(const Where& where = Where::current()) const {
    TenonDataType type = TENON_FLOAT32;
    detail::run(where, TenonDTensorGetDataType, get(), &type);
    return type;
  }
  /** This rank's elements, halo included. */
  Box box(const Where& where = Where::current()) const {
    const auto dimensions = static_cast<std::size_t>(layout(where).dimensions(where));
    Box box{std::vector<TenonInt>(dimensions), std::vector<TenonInt>(dimensions)};
    detail::run(where, TenonDTensorGetBox, get(), box.low.data(), box.high.data());
    return box;
  }

  void fill(double value, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorFillConstant, get(), value);
  }
  void fillUniform(TenonInt seed, TenonInt stream, double low, double high,
                   const Where& where = Where::current()) {
    detail::run(where, TenonDTensorFillUniform, get(), seed, stream, low, high);
  }
  void fillNormal(TenonInt seed, TenonInt stream, double mean, double deviation,
                  const Where& where = Where::current()) {
    detail::run(where, TenonDTensorFillNormal, get(), seed, stream, mean, deviation);
  }
  /** This tensor becomes x. */
  void copy(const DTensor& x, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorCopy, x.get(), get());
  }
  /** This tensor becomes alpha x + beta times itself. */
  void axpby(double alpha, const DTensor& x, double beta, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorAXPBY, alpha, x.get(), beta, get());
  }
  void scale(double factor, const Where& where = Where::current()) {
    detail::run(where, TenonDTensorScale, factor, get());
  }
  double norm(const Where& where = Where::current()) const {
    double value = 0;
    detail::run(where, TenonDTensorNorm, get(), &value);
    return value;
  }
  double maxAbs(const Where& where = Where::current()) const {
    double value = 0;
    detail::run(where, TenonDTensorMaxAbs, get(), &value);
    return value;
  }
  /** With a tensor in the dual layout. */
  double pairing(const DTensor& y, const Where& where = Where::current()) const {
    double value = 0;
    detail::run(where, TenonDTensorPairing, get(), y.get(), &value);
    return value;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonDTensorView, get());
  }

private:
  static const TenonInt* orNull(const Ints& list) {
    return list.size() > 0 ? list.data() : nullptr;
  }
  void checkPlace(TenonDataType type, const Arrangement& a, const Where& where) const {
    if (dataType(where) != type) {
      const std::string message =
          "the elements of the array are of another type than those of the tensor";
      throw Error(TENON_ERR_DATATYPE, message, message);
    }
    const auto dimensions = static_cast<std::size_t>(layout(where).dimensions(where));
    for (const Ints* list : {&a.strides, &a.ghostsLow, &a.ghostsHigh})
      if (list->size() != 0 && list->size() != dimensions)
        throw std::length_error(
            "tenon::DTensor::place: strides and ghosts have one number for each "
            "dimension of the tensor");
  }
};

class LinearOp : public Handle<TenonLinearOp> {
public:
  using Handle::Handle;
  static LinearOp conversion(const Layout& from, const Layout& to, TenonDataType type,
                             const Where& where = Where::current()) {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateConversion, from, to, type, made.out());
    return made;
  }
  static LinearOp halo(const Layout& from, const Layout& to, TenonDataType type,
                       const Where& where = Where::current()) {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateHalo, from, to, type, made.out());
    return made;
  }
  LinearOp share(const Where& where = Where::current()) const { return LinearOp(retained(where)); }
  LinearOp adjoint(const Where& where = Where::current()) const {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateAdjoint, get(), made.out());
    return made;
  }

  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApply, get(), x.get(), y.get());
  }
  void applyAdjoint(const DTensor& y, DTensor& x, const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApplyAdjoint, get(), y.get(), x.get());
  }
  void applyAdd(double alpha, const DTensor& x, double beta, DTensor& y,
                const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApplyAdd, get(), alpha, x.get(), beta, y.get());
  }
  void applyAdjointAdd(double alpha, const DTensor& y, double beta, DTensor& x,
                       const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApplyAdjointAdd, get(), alpha, y.get(), beta, x.get());
  }
  /** Of a Jacobian (Layer::jacobian()): moves it to another point. */
  void setPoint(const DTensor& x, const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpJacobianSetPoint, get(), x.get());
  }
  /** The relative difference of the two pairings. */
  double testAdjoint(TenonInt seed, bool integers = false, const Where& where = Where::current()) {
    double relative = 0;
    detail::run(where, TenonLinearOpTestAdjoint, get(), seed, integers ? TENON_TRUE : TENON_FALSE,
                nullptr, nullptr, &relative);
    return relative;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonLinearOpView, get());
  }
};

class Layer : public Handle<TenonLayer> {
public:
  using Handle::Handle;
  /** A layer of a type: "conv", "affine", "tanh", "sequential", ... See TenonLayerSetType(). */
  Layer(MPI_Comm comm, const char* type, const Where& where = Where::current()) {
    detail::run(where, TenonLayerCreate, comm, out());
    detail::run(where, TenonLayerSetType, get(), type);
  }
  static Layer fromFile(MPI_Comm comm, const std::string& nameOrPath,
                        const Where& where = Where::current()) {
    Layer made;
    detail::run(where, TenonLayerCreateFromFile, comm, nameOrPath.c_str(), made.out());
    return made;
  }
  Layer share(const Where& where = Where::current()) const { return Layer(retained(where)); }

  /** Settings by name: set("kernel", {3, 3}).set("in_channels", 1).set("data_type", "float64"). */
  Layer& set(const char* name, Ints values, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetIntegers, get(), name, static_cast<TenonInt>(values.size()),
                values.data());
    return *this;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Layer& set(const char* name, T value, const Where& where = Where::current()) {
    if constexpr (std::is_same_v<T, bool>) {
      detail::run(where, TenonLayerSetBool, get(), name, value ? TENON_TRUE : TENON_FALSE);
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = static_cast<TenonInt>(value);
      detail::run(where, TenonLayerSetIntegers, get(), name, TenonInt(1), &number);
    } else {
      detail::run(where, TenonLayerSetReal, get(), name, static_cast<double>(value));
    }
    return *this;
  }
  Layer& set(const char* name, const char* text, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetText, get(), name, text);
    return *this;
  }
  Layer& setFromOptions(const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetFromOptions, get());
    return *this;
  }
  /** Of a sequential layer: the next layer. */
  Layer& add(const Layer& layer, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSequentialAdd, get(), layer.get());
    return *this;
  }
  /** Of a graph: a node that reads these inputs; its number. */
  int addNode(const Layer& layer, List<int> inputs, const Where& where = Where::current()) {
    int node = 0;
    detail::run(where, TenonLayerGraphAddNode, get(), layer.get(), static_cast<int>(inputs.size()),
                inputs.data(), &node);
    return node;
  }

  void setUp(const Layout& input, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetUp, get(), input);
  }
  void initialize(TenonInt seed, const Where& where = Where::current()) {
    detail::run(where, TenonLayerInitialize, get(), seed);
  }
  void loadWeights(const std::string& path, const char* map = nullptr,
                   const Where& where = Where::current()) {
    detail::run(where, TenonLayerLoadWeights, get(), path.c_str(), map);
  }
  void saveWeights(const std::string& path, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSaveWeights, get(), path.c_str());
  }
  Layout outputLayout(const Where& where = Where::current()) const {
    Layout made;
    detail::run(where, TenonLayerGetOutputLayout, get(), made.out());
    return made;
  }
  DTensor createOutput(const Where& where = Where::current()) {
    return made(TenonLayerCreateOutput, where);
  }
  DTensor createOutputCotangent(const Where& where = Where::current()) {
    return made(TenonLayerCreateOutputCotangent, where);
  }
  DTensor createInputCotangent(const Where& where = Where::current()) {
    return made(TenonLayerCreateInputCotangent, where);
  }

  int parameterCount(const Where& where = Where::current()) const {
    int count = 0;
    detail::run(where, TenonLayerGetParameterCount, get(), &count);
    return count;
  }
  DTensor parameter(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetParameter, where, index);
  }
  DTensor parameter(const char* path, const Where& where = Where::current()) {
    return made(TenonLayerGetParameterAt, where, path);
  }
  DTensor parameterGradient(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetParameterGradient, where, index);
  }
  DTensor reducedGradient(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetReducedGradient, where, index);
  }
  DTensor parameterTangent(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetParameterTangent, where, index);
  }

  void setTraining(bool training, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetTraining, get(), training ? TENON_TRUE : TENON_FALSE);
  }
  void setFrozen(bool frozen, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetFrozen, get(), frozen ? TENON_TRUE : TENON_FALSE);
  }
  void setTarget(const DTensor& target, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetTarget, get(), target.get());
  }
  void setTargetWeights(const DTensor& weights, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetTargetWeights, get(), weights.get());
  }
  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApply, get(), x.get(), y.get());
  }
  void applyTangent(const DTensor& dx, DTensor& dy, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApplyTangent, get(), dx.get(), dy.get());
  }
  void applyAdjoint(const DTensor& dy, DTensor& dx, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApplyAdjoint, get(), dy.get(), dx.get());
  }
  /** The gradients of the parameters alone. */
  void applyAdjoint(const DTensor& dy, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApplyAdjoint, get(), dy.get(), nullptr);
  }
  void zeroGradients(const Where& where = Where::current()) {
    detail::run(where, TenonLayerZeroGradients, get());
  }
  /** The derivative at x as an operator; see TenonLinearOpCreateJacobian(). */
  LinearOp jacobian(const DTensor& x, const Where& where = Where::current()) {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateJacobian, get(), x.get(), made.out());
    return made;
  }
  /** The relative difference of the dot test of tangent and adjoint at x. */
  double testAdjoint(const DTensor& x, TenonInt seed, const Where& where = Where::current()) {
    double relative = 0;
    detail::run(where, TenonLayerTestAdjoint, get(), x.get(), seed, nullptr, nullptr, &relative);
    return relative;
  }
  /** The order of the Taylor test at x: 2 for a right derivative. */
  double testTaylor(const DTensor& x, TenonInt seed, const Where& where = Where::current()) {
    double order = 0;
    detail::run(where, TenonLayerTestTaylor, get(), x.get(), seed, &order, nullptr);
    return order;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonLayerView, get());
  }

private:
  template <class Function, class... Arguments>
  DTensor made(Function function, const Where& where, Arguments... arguments) {
    DTensor tensor;
    detail::run(where, function, get(), arguments..., tensor.out());
    return tensor;
  }
};

class Optimizer : public Handle<TenonOptimizer> {
public:
  using Handle::Handle;
  Optimizer(const Layer& layer, const char* type, const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerCreate, layer.get(), type, out());
  }
  Optimizer share(const Where& where = Where::current()) const {
    return Optimizer(retained(where));
  }

  void setLearningRate(double rate, const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerSetLearningRate, get(), rate);
  }
  void setFromOptions(const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerSetFromOptions, get());
  }
  /** The norm before the scaling. */
  double clipGradientNorm(double maximum, const Where& where = Where::current()) {
    double norm = 0;
    detail::run(where, TenonOptimizerClipGradientNorm, get(), maximum, &norm);
    return norm;
  }
  void step(const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerStep, get());
  }
};

class Dataset : public Handle<TenonDataset> {
public:
  using Handle::Handle;
  Dataset(MPI_Comm comm, const std::string& images, const std::string& labels,
          const Where& where = Where::current()) {
    detail::run(where, TenonDatasetCreateIDX, comm, images.c_str(), labels.c_str(), out());
  }
  void setUp(const Layout& x, const Layout& labels, const Where& where = Where::current()) {
    detail::run(where, TenonDatasetSetUp, get(), x, labels);
  }
  TenonInt batches(const Where& where = Where::current()) const {
    TenonInt count = 0;
    detail::run(where, TenonDatasetGetBatchCount, get(), &count);
    return count;
  }
  void batch(TenonInt epoch, TenonInt batch, DTensor& x, DTensor& labels,
             const Where& where = Where::current()) {
    detail::run(where, TenonDatasetGetBatch, get(), epoch, batch, x.get(), labels.get());
  }
};

} // namespace tenon

#endif
