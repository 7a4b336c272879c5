// SPDX-License-Identifier: BSD-2-Clause
// An array that a pass updates before its kernels read it: a parameter in its use layout, or a
// target. The update has two halves, begin() and end(), to overlap its communication. Collective.
#pragma once

namespace tenon {

class Source {
public:
  virtual ~Source() = default;
  virtual void begin() = 0;
  virtual void end() = 0;
  // Whether the next begin() and end(), or those of the tangent, have nothing to do.
  virtual bool isIdle(bool /*ofTangent*/) const { return false; }
  // begin() and end() of the source's tangent, if it has one.
  virtual void beginTangent() {}
  virtual void endTangent() {}
};

} // namespace tenon
