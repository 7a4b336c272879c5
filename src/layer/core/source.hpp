// SPDX-License-Identifier: BSD-2-Clause
// An array that must be brought up to date before the kernels of a pass (Apply or a derivative)
// read it: a parameter in its use layout, a state, or a target. The update has two halves, begin()
// and end(), between which other kernels run while messages are under way. Both are collective.
#pragma once

namespace tenon {

class Source {
public:
  virtual ~Source() = default;
  virtual void begin() = 0;
  virtual void end() = 0;
  // Whether the next begin() and end(), or beginTangent() and endTangent() if `ofTangent`, would do
  // nothing because the array is up to date.
  virtual bool isIdle(bool /*ofTangent*/) const { return false; }
  // begin() and end() of the source's tangent, if it has one.
  virtual void beginTangent() {}
  virtual void endTangent() {}
};

} // namespace tenon
