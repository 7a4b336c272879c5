// SPDX-License-Identifier: BSD-2-Clause
// A directory of ids, distributed by a hash: owners say there which ids they have, others ask there, and are
// answered by the row. Three sparse exchanges, and one number for each rank, which layouts need anyway.
#include "comm/numbering.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/patience.hpp"
#include "comm/sparse_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

namespace tenon {

namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood 2014): ids that follow each other go to any ranks.
std::uint64_t hashOf(Index id) {
  auto x = static_cast<std::uint64_t>(id) + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

struct Entry {
  Index id, row;
  int owner;
};

class Directory {
public:
  Directory(Communicator& comm, const std::vector<Index>& owned, const std::vector<Index>& wanted)
      : comm_(comm), owned_(owned), wanted_(wanted) {}

  Numbering number() {
    numbering_.cuts = findCuts();
    takeClaims();
    answerAll();
    return std::move(numbering_);
  }

private:
  int placeOf(Index id) const { return directoryRankOf(id, comm_.size()); }

  std::vector<Index> findCuts() {
    std::vector<Index> cuts = collectively(
        comm_, [&] { return std::vector<Index>(static_cast<std::size_t>(comm_.size()) + 1, 0); });
    const auto count = static_cast<Index>(owned_.size());
    MPI_Request request = MPI_REQUEST_NULL;
    checkMpi(MPI_Iallgather(&count, 1, MPI_INT64_T, cuts.data() + 1, 1, MPI_INT64_T, comm_.mpi(),
                            &request),
             "MPI_Iallgather");
    waitFor(comm_, &request, 1, [&] { return someOfText(othersOf(comm_)); });
    for (std::size_t rank = 1; rank < cuts.size(); ++rank)
      cuts[rank] += cuts[rank - 1];
    return cuts;
  }

  // Owners say which ids they have, and in which row.
  void takeClaims() {
    SparseMessages claims = collectively(comm_, [&] {
      SparseMessages made;
      Index row = numbering_.cuts[comm_.rank()];
      for (Index id : owned_) {
        std::vector<Index>& to = made[placeOf(id)];
        to.push_back(id);
        to.push_back(row++);
      }
      return made;
    });
    const SparseMessages taken = sparseExchange(comm_, std::move(claims));
    entries_ = collectively(comm_, [&] {
      std::vector<Entry> entries;
      for (const auto& [peer, data] : taken)
        for (std::size_t i = 0; i < data.size(); i += 2)
          entries.push_back({data[i], data[i + 1], peer});
      std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
        return std::tie(a.id, a.row) < std::tie(b.id, b.row);
      });
      checkOwners(entries);
      return entries;
    });
  }

  static void checkOwners(const std::vector<Entry>& entries) {
    const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::id);
    if (twice == entries.end())
      return;
    const auto again = twice + 1;
    if (twice->owner == again->owner)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("id {} is twice among the ids that rank {} owns; list each node once",
                              twice->id, twice->owner));
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("id {} is owned by rank {} and by rank {}; list it among the first `owned` "
                    "ids of one rank alone",
                    twice->id, twice->owner, again->owner));
  }

  void answerAll() {
    SparseMessages questions = collectively(comm_, [&] {
      SparseMessages made;
      for (Index id : wanted_)
        made[placeOf(id)].push_back(id);
      return made;
    });
    const SparseMessages asked = sparseExchange(comm_, std::move(questions));
    SparseMessages answers = collectively(comm_, [&] {
      SparseMessages made;
      for (const auto& [peer, ids] : asked)
        for (Index id : ids)
          made[peer].push_back(rowOf(id, peer));
      return made;
    });
    const SparseMessages rows = sparseExchange(comm_, std::move(answers));
    numbering_.wanted = collectively(comm_, [&] {
      // Answers come in the order of the questions.
      std::vector<Index> wanted;
      std::map<int, std::size_t> read;
      for (Index id : wanted_) {
        const int at = placeOf(id);
        wanted.push_back(rows.at(at)[read[at]++]);
      }
      return wanted;
    });
  }

  Index rowOf(Index id, int asks) const {
    const auto found = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
    if (found == entries_.end() || found->id != id)
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format("rank {} lists id {} as a ghost, but no rank owns it; the ids that ranks own "
                      "are the first `owned` of each list",
                      asks, id));
    return found->row;
  }

  Communicator& comm_;
  const std::vector<Index>&owned_, &wanted_;
  Numbering numbering_;
  std::vector<Entry> entries_; // this rank's share, by id
};

} // namespace

int directoryRankOf(Index id, int ranks) {
  return static_cast<int>(hashOf(id) % static_cast<std::uint64_t>(ranks));
}

Numbering numberRows(Communicator& comm, const std::vector<Index>& owned,
                     const std::vector<Index>& wanted) {
  return Directory(comm, owned, wanted).number();
}

} // namespace tenon
