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

class BatchedAgreement {
public:
  explicit BatchedAgreement(Communicator& comm) : comm_(comm) { comm.setBatch(this); }
  ~BatchedAgreement() { comm_.setBatch(nullptr); }
  BatchedAgreement(const BatchedAgreement&) = delete;
  BatchedAgreement& operator=(const BatchedAgreement&) = delete;

  // What must be the same on all ranks.
  void say(std::string_view what, std::string text) {
    said_.push_back({std::string(what), std::move(text)});
  }
  // What is undone if the agreement fails, the latest first. It must not throw.
  void ifFailed(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // A communicator that is made at the end, as Communicator::split() says.
  SubCommPtr split(const Communicator::SplitName& name, int color, int key);

  // Collective. Throws, once all is undone, the error of the lowest rank that has one, on all
  // ranks, or TENON_ERR_COLLECTIVE where texts differ.
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

// Collective. Runs a body with one agreement at its end, or as a part of a body that has one. The
// body may call batched() and ifFailed(), and what agrees by itself.
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

// Like collectively(), but within inOneAgreement() it leaves what is agreed on to that.
template <class Body, class Describe>
auto batched(Communicator& comm, std::string_view what, Body&& body, Describe&& describe) {
  BatchedAgreement* batch = comm.batch();
  if (!batch)
    return collectively(comm, what, std::forward<Body>(body), std::forward<Describe>(describe));
  auto result = std::forward<Body>(body)();
  batch->say(what, std::forward<Describe>(describe)(result));
  return result;
}

} // namespace tenon
