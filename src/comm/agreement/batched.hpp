// SPDX-License-Identifier: BSD-2-Clause
// BatchedAgreement: one agreement of the ranks on success or failure (agreement.hpp) for the
// creation of many objects. The set-up of a network creates hundreds of objects, each of which can
// fail on one rank only. Since no messages are sent before all objects exist, one agreement at the
// end suffices:
//
//   inOneAgreement(comm, body)   runs the function `body`, then agrees. In the body:
//     batched(...)               adds a text that all ranks must share; an error ends the body
//     comm.split(...)            returns a communicator that is created after the agreement
//     ifFailed(undo)             registers a function that is called if the agreement fails
//
// collectively() agrees immediately also within a batch, for work that is followed by an MPI
// collective. If another rank has failed earlier in the body, its agreement at the end matches this
// one. A body that itself contains inOneAgreement() becomes part of the enclosing batch.
#pragma once

#include "comm/agreement/agreement.hpp"
#include "comm/communicator.hpp"

#include <functional>
#include <list>

namespace tenon {

class BatchedAgreement {
public:
  explicit BatchedAgreement(Communicator& comm) : comm_(comm) { comm.setBatch(this); }
  ~BatchedAgreement() { comm_.setBatch(nullptr); }
  BatchedAgreement(const BatchedAgreement&) = delete;
  BatchedAgreement& operator=(const BatchedAgreement&) = delete;

  // Adds a text that must be the same on all ranks.
  void compareText(std::string_view what, std::string text) {
    texts_.push_back({std::string(what), std::move(text)});
  }
  // Adds an action that is run if the agreement fails, the latest first. It must not throw.
  void ifFailed(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // A communicator that is made at the conclusion, see Communicator::split().
  SubCommPtr split(const Communicator::SplitName& name, int color, int key);

  // Collective. Runs the undo actions on failure, and throws on all ranks the error of the lowest
  // rank that has one, or TENON_ERR_COLLECTIVE if texts differ.
  void conclude(const std::optional<Error>& mine);
  void undo() noexcept;

private:
  struct Split {
    Communicator::Splits::Place place;
    int color, key;
  };

  Communicator& comm_;
  std::vector<AgreedText> texts_;
  std::vector<std::function<void()>> undos_;
  std::list<Split> splits_;
};

// Suspends the batch during its lifetime: agreements on the communicator are made immediately. For
// user functions, which use their objects at once.
class UnbatchedAgreements {
public:
  explicit UnbatchedAgreements(Communicator& comm) : comm_(comm), outer_(comm.batch()) {
    comm.setBatch(nullptr);
  }
  ~UnbatchedAgreements() { comm_.setBatch(outer_); }
  UnbatchedAgreements(const UnbatchedAgreements&) = delete;
  UnbatchedAgreements& operator=(const UnbatchedAgreements&) = delete;

private:
  Communicator& comm_;
  BatchedAgreement* outer_;
};

// Collective. Runs a body with one agreement at its end, or as part of an enclosing batch. The body
// can call batched() and ifFailed(), and calls that agree themselves.
template <class Body>
auto inOneAgreement(Communicator& comm, Body&& body) {
  if (comm.batch())
    return std::forward<Body>(body)();
  BatchedAgreement batch(comm);
  std::optional<Error> error;
  std::optional<decltype(body())> result;
  try {
    result.emplace(std::forward<Body>(body)());
  } catch (...) {
    error = caughtError();
    if (error->isAgreed()) {
      batch.undo();
      throw;
    }
  }
  batch.conclude(error);
  return std::move(*result);
}

// Like collectively(), but within inOneAgreement() the text is agreed on at its end.
template <class Body, class Describe>
auto batched(Communicator& comm, std::string_view what, Body&& body, Describe&& describe) {
  BatchedAgreement* batch = comm.batch();
  if (!batch)
    return collectively(comm, what, std::forward<Body>(body), std::forward<Describe>(describe));
  auto result = std::forward<Body>(body)();
  batch->compareText(what, std::forward<Describe>(describe)(result));
  return result;
}

} // namespace tenon
