// SPDX-License-Identifier: BSD-2-Clause
// One agreement for many bodies. The set-up of a network makes hundreds of objects, each of which
// could fail on one rank alone. As nothing is sent between ranks before all are made, one agreement
// at the end does for all of them: each body leaves to it the text on which ranks must agree, and
// its error, which ends the set-up of its own rank. Communicators that objects need are made once
// all ranks have agreed; until then they are empty.
//
// Agreements that something collective of MPI follows at once are made where they stand, as before:
// a rank that has failed meets the others there.
#pragma once

#include "comm/agreement/agreement.hpp"
#include "comm/communicator.hpp"

#include <functional>
#include <list>

namespace tenon {

class JointAgreement {
public:
  explicit JointAgreement(Communicator& comm) : comm_(comm) { comm.setJoint(this); }
  ~JointAgreement() { comm_.setJoint(nullptr); }
  JointAgreement(const JointAgreement&) = delete;
  JointAgreement& operator=(const JointAgreement&) = delete;

  // What must be the same on all ranks.
  void say(std::string_view what, std::string text) {
    said_.push_back({std::string(what), std::move(text)});
  }
  // What is undone if the agreement fails, the latest first. It must not throw.
  void ifFailed(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // A communicator that is made at the end, as Communicator::split() says.
  SubCommPtr split(const Communicator::SplitName& name, int color, int key);

  // Collective. Throws, once all is undone, the error of the lowest rank that has one, on all ranks,
  // or TENON_ERR_COLLECTIVE where texts differ.
  void conclude(const std::optional<Error>& mine);
  void undo() noexcept;

private:
  struct Split {
    Communicator::Splits::Place place;
    int color, key;
  };

  Communicator& comm_;
  std::vector<AgreedText> said_;
  std::vector<std::function<void()>> undos_;
  std::list<Split> splits_;
};

// While one lives, agreements on the communicator stand where they are: as in a function of the
// user's, who uses at once what it makes.
class ApartFromJoint {
public:
  explicit ApartFromJoint(Communicator& comm) : comm_(comm), outer_(comm.joint()) {
    comm.setJoint(nullptr);
  }
  ~ApartFromJoint() { comm_.setJoint(outer_); }
  ApartFromJoint(const ApartFromJoint&) = delete;
  ApartFromJoint& operator=(const ApartFromJoint&) = delete;

private:
  Communicator& comm_;
  JointAgreement* outer_;
};

// Collective. Runs a body with one agreement at its end, or as a part of a body that has one. The
// body may call jointly() and ifFailed(), and what agrees by itself.
template <class Body>
auto inOneAgreement(Communicator& comm, Body&& body) {
  if (comm.joint())
    return std::forward<Body>(body)();
  JointAgreement joint(comm);
  std::optional<Error> error;
  std::optional<decltype(body())> result;
  try {
    result.emplace(std::forward<Body>(body)());
  } catch (...) {
    error = caughtError();
    if (error->isAgreed()) {
      joint.undo();
      throw;
    }
  }
  joint.conclude(error);
  return std::move(*result);
}

// Like collectively(), but within inOneAgreement() it leaves what is agreed on to that.
template <class Body, class Describe>
auto jointly(Communicator& comm, std::string_view what, Body&& body, Describe&& describe) {
  JointAgreement* joint = comm.joint();
  if (!joint)
    return collectively(comm, what, std::forward<Body>(body), std::forward<Describe>(describe));
  auto result = std::forward<Body>(body)();
  joint->say(what, std::forward<Describe>(describe)(result));
  return result;
}

} // namespace tenon
