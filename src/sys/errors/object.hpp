// SPDX-License-Identifier: BSD-2-Clause
// The base class of all objects behind public handles: class name, reference count, name, options
// prefix, and a state counter that is incremented with each change of the object's value.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

class Object {
public:
  // className must have static storage duration: a string literal such as "LinearOp".
  explicit Object(const char* className);
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const char* className() const noexcept { return className_; }
  // The type within the class, such as "conv" for a layer or "adam" for an optimizer; empty if the
  // class has no types.
  virtual std::string_view type() const noexcept { return {}; }
  // Description of the object for a view. Not collective.
  virtual std::string describe() const;
  // False after destruction, unless the freed memory has been reused; isLiveObject() is reliable.
  bool isLive() const noexcept { return magic_ == kMagic; }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;
  int references() const noexcept { return references_.load(std::memory_order_relaxed); }
  // Number of references that are user handles; all others are internal.
  void addHandle() noexcept { handles_.fetch_add(1, std::memory_order_relaxed); }
  void dropHandle() noexcept { handles_.fetch_sub(1, std::memory_order_relaxed); }
  int handles() const noexcept { return handles_.load(std::memory_order_relaxed); }

  const std::string& name() const noexcept { return name_; }
  void setName(std::string name);
  const std::string& prefix() const noexcept { return prefix_; }
  void setPrefix(std::string prefix) { prefix_ = std::move(prefix); }
  // The object's name in messages: `layer "conv1"`, or "the layer" if it has none.
  const std::string& title() const noexcept { return title_; }

  std::uint64_t state() const noexcept { return state_; }
  void changed() noexcept { ++state_; }

private:
  static constexpr std::uint64_t kMagic = 0x54656e6f6e4f626aULL; // "TenonObj"
  std::uint64_t magic_ = kMagic;
  const char* className_;
  std::atomic<int> references_{1};
  std::atomic<int> handles_{0};
  std::string name_;
  std::string title_; // cached for calls in a time step
  std::string prefix_;
  std::uint64_t state_ = 0;
};

// A counted reference. adopt() takes over the reference of a new object; share() adds a reference.
// For example, makeRef<DTensor>(...) makes a tensor with one reference, and each copy of the Ref
// adds one. The tensor is destroyed with its last Ref.
template <class T>
class Ref {
public:
  Ref() = default;
  static Ref adopt(T* object) noexcept { return Ref(object); }
  static Ref share(T* object) noexcept {
    if (object)
      object->retain();
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_)
      object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& other) noexcept : Ref(share(other.get())) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_)
      object_->release();
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Leaves the reference to the caller, for a handle that the user will destroy.
  T* detach() noexcept { return std::exchange(object_, nullptr); }

private:
  explicit Ref(T* object) noexcept : object_(object) {}
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> makeRef(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

// The list of live objects: for the report at Finalize of objects that were not destroyed, and to
// detect a stale or foreign handle without dereferencing it.
struct LiveObject {
  std::string className;
  std::string name;
  int references = 0;
  int handles = 0; // number of references that are user handles
};

// All live objects, in order of creation.
std::vector<LiveObject> liveObjects();
bool isLiveObject(const void* pointer) noexcept;

} // namespace tenon
