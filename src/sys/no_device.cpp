// SPDX-License-Identifier: BSD-2-Clause
// Definitions for a build without CUDA. There is no device, so only get(), the texts and the static
// queries can be called; all other functions need a Device or a Stream, which cannot exist. They
// are defined, and throw, so callers need no conditional code. The declarations are in device.hpp,
// device_addresses.hpp and device_group.hpp.
#include "sys/device_addresses.hpp"
#include "sys/device_group.hpp"

namespace tenon {

namespace {

constexpr const char* kReason = "this Tenon was built without CUDA";

[[noreturn]] void refuse() {
  throw Error(TENON_ERR_SUPPORT,
              std::string("there is no device: ") + kReason +
                  "; configure it with -DTENON_WITH_CUDA=ON, or use the space host");
}

} // namespace

bool Event::isDone() const {
  refuse();
}
void Event::synchronise() const {
  refuse();
}

Stream Stream::make() {
  refuse();
}
Stream Stream::wrap(void*) {
  refuse();
}
Stream Stream::ofCaller(void*) {
  refuse();
}
Event Stream::record() const {
  refuse();
}
void Stream::record(Event&) const {
  refuse();
}
void Stream::wait(const Event&) const {
  refuse();
}
void Stream::synchronise() const {
  refuse();
}
double Stream::secondsOf(const std::function<void()>&) const {
  refuse();
}
StreamRecording Stream::recording(const std::function<void()>&) const {
  refuse();
}
bool Stream::isRecording() noexcept {
  return false;
}
void StreamRecording::queue(const Stream&) const {
  refuse();
}

Device& Device::get() {
  refuse();
}
std::string Device::toolkitVersion() {
  return "none";
}
std::string Device::list() {
  return std::string("no device: ") + kReason + "\n";
}
std::vector<Index> deviceAddresses() {
  return {};
}
std::shared_ptr<MemorySource> Device::memory(const Stream&) {
  refuse();
}
std::shared_ptr<MemorySource> Device::unpooled(const Stream&) {
  refuse();
}
MemoryKey Device::keyOf(void*) {
  refuse();
}
void* Device::openShown(const MemoryKey&) {
  refuse();
}
void Device::closeShown(void*) noexcept {}
void Device::registerHost(void*, Index) {
  refuse();
}
void Device::unregisterHost(void*) noexcept {}
std::shared_ptr<MemorySource> Device::pinned() {
  refuse();
}
void Device::copy(void*, const void*, Index, const Stream&) {
  refuse();
}
bool Device::reaches(const void*) const {
  refuse();
}
void Device::setPlaceOnNode(int, int) noexcept {}
int Device::processesOnNode() noexcept {
  return 0;
}
int Device::holderOf(const void*) {
  return -1;
}
bool Device::isPinned(const std::byte*, Index, Index) {
  return false;
}
void Device::checkUserStream(void*) const {
  refuse();
}

std::string DeviceGroup::library() {
  refuse();
}
DeviceGroup::Name DeviceGroup::makeName() {
  refuse();
}
DeviceGroup::DeviceGroup(const Name&, int, int) {
  refuse();
}
DeviceGroup::~DeviceGroup() {
  static_cast<void>(handle_);
}
std::optional<Error> DeviceGroup::failure() noexcept {
  return std::nullopt;
}
void DeviceGroup::end() {
  refuse();
}
void DeviceGroup::giveUp() noexcept {}
void DeviceGroup::allReduce(const void*, void*, Index, TenonDataType, const Stream&) {
  refuse();
}
void DeviceGroup::reduce(const void*, void*, Index, TenonDataType, const Stream&) {
  refuse();
}
void DeviceGroup::broadcast(const void*, void*, Index, TenonDataType, const Stream&) {
  refuse();
}
void DeviceGroup::reduceScatter(const void*, void*, std::span<const Index>, TenonDataType,
                                const Stream&) {
  refuse();
}
void DeviceGroup::allGather(const void*, void*, std::span<const Index>, TenonDataType,
                            const Stream&) {
  refuse();
}

CurrentDeviceScope::CurrentDeviceScope(Whose whose) noexcept : before_(whose) {}
CurrentDeviceScope::~CurrentDeviceScope() {
  static_cast<void>(before_); // no device is ever current
}

} // namespace tenon
