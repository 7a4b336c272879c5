// SPDX-License-Identifier: BSD-2-Clause
// A tensor that a pass brings up to date before its kernels read it, in two halves, so that it
// travels meanwhile: a parameter in its use layout, a target. Collective.
#pragma once

namespace tenon {

class Source {
public:
  virtual ~Source() = default;
  virtual void begin() = 0;
  virtual void end() = 0;
  // Whether neither of the halves that comes next, or those of the tangent, has anything to do.
  virtual bool isIdle(bool /*ofTangent*/) const { return false; }
  // The same of its tangent, if it has one.
  virtual void beginTangent() {}
  virtual void endTangent() {}
};

} // namespace tenon
