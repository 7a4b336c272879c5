// SPDX-License-Identifier: BSD-2-Clause
// Two algorithms. numberRows() uses a directory of ids: directory rank hash(id) mod P stores the
// row and the owner of an id. It makes three sparse exchanges:
//   1. each rank sends its owned ids with their rows to the directory ranks
//   2. each rank sends the wanted ids to the directory ranks
//   3. the directory ranks send the rows back
// rowsById() is a parallel sort: for each rank, bisection finds the smallest id of its block of the
// sorted list; then one sparse exchange sends each id with its row to the rank of its block.
#include "comm/numbering.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "comm/sparse_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

namespace tenon {

namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood 2014), which spreads consecutive ids over the
// ranks.
std::uint64_t hashOf(Index id) {
  auto x = static_cast<std::uint64_t>(id) + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// An entry of the directory.
struct Entry {
  Index id, row;
  int owner; // The rank that owns the id.
};

// The three exchanges of numberRows(), on all ranks.
class Directory {
public:
  Directory(Communicator& comm, const std::vector<Index>& owned, const std::vector<Index>& wanted)
      : comm_(comm), owned_(owned), wanted_(wanted) {}

  Numbering number() {
    numbering_.cuts = findCuts();
    sendOwned();
    findWanted();
    return std::move(numbering_);
  }

private:
  int directoryRank(Index id) const { return directoryRankOf(id, comm_.size()); }

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

  // Exchange 1: sends each owned id with its row to the directory, as pairs (id, row), and sorts
  // the entries that arrive there.
  void sendOwned() {
    SparseMessages idsAndRows = collectively(comm_, [&] {
      SparseMessages messages;
      Index row = numbering_.cuts[comm_.rank()];
      for (Index id : owned_) {
        std::vector<Index>& message = messages[directoryRank(id)];
        message.push_back(id);
        message.push_back(row++);
      }
      return messages;
    });
    const SparseMessages received = sparseExchange(comm_, std::move(idsAndRows));
    entries_ = collectively(comm_, [&] {
      std::vector<Entry> entries;
      for (const auto& [peer, data] : received)
        for (std::size_t i = 0; i < data.size(); i += 2)
          entries.push_back({.id = data[i], .row = data[i + 1], .owner = peer});
      std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
        return std::tie(a.id, a.row) < std::tie(b.id, b.row);
      });
      checkOwners(entries);
      return entries;
    });
  }

  static void checkOwners(const std::vector<Entry>& entries) {
    const auto first = std::ranges::adjacent_find(entries, {}, &Entry::id);
    if (first == entries.end())
      return;
    const auto second = first + 1;
    if (first->owner == second->owner)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("id {} is twice among the ids that rank {} owns; list each node once",
                              first->id, first->owner));
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("id {} is owned by rank {} and by rank {}; list it among the first `owned` "
                    "ids of one rank alone",
                    first->id, first->owner, second->owner));
  }

  // Exchanges 2 and 3: sends the wanted ids to the directory, and gets their rows from there.
  void findWanted() {
    SparseMessages wantedIds = collectively(comm_, [&] {
      SparseMessages requests;
      for (Index id : wanted_)
        requests[directoryRank(id)].push_back(id);
      return requests;
    });
    const SparseMessages requested = sparseExchange(comm_, std::move(wantedIds));
    SparseMessages answers = collectively(comm_, [&] {
      SparseMessages rows;
      for (const auto& [peer, ids] : requested)
        for (Index id : ids)
          rows[peer].push_back(rowOf(id, peer));
      return rows;
    });
    const SparseMessages rows = sparseExchange(comm_, std::move(answers));
    numbering_.wanted = collectively(comm_, [&] {
      // The answers of a directory rank have the order of the requests sent to it.
      std::vector<Index> wanted;
      std::map<int, std::size_t> nextAnswer;
      for (Index id : wanted_) {
        const int rank = directoryRank(id);
        wanted.push_back(rows.at(rank)[nextAnswer[rank]++]);
      }
      return wanted;
    });
  }

  Index rowOf(Index id, int requester) const {
    const auto entry = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
    if (entry == entries_.end() || entry->id != id)
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format("rank {} lists id {} as a ghost, but no rank owns it; the ids that ranks own "
                      "are the first `owned` of each list",
                      requester, id));
    return entry->row;
  }

  Communicator& comm_;
  const std::vector<Index>&owned_, &wanted_;
  Numbering numbering_;
  std::vector<Entry> entries_; // This rank's share of the directory, sorted by id.
};

// Converts an id to an unsigned number (the key), in the same order also for negative ids: with the
// sign bit inverted, -1 is just below 0, where plain conversion would make it the largest number.
std::uint64_t keyOf(Index id) {
  return static_cast<std::uint64_t>(id) ^ (std::uint64_t(1) << 63);
}

// Number of blocks whose first keys are found together, in one bisection: a bound on the length of
// the lists that are summed over ranks.
constexpr std::size_t kBlocksPerRound = 1024;

// Finds the first key of blocks of the sorted list. The block that begins at entry n has as its
// first key k the smallest number for which all ranks together have at least n keys below k. Each
// step of a bisection counts the local keys below the middle of the interval and sums the counts
// over all ranks, for several blocks at once.
class FirstKeys {
public:
  // `keys` are the keys of this rank, sorted; at least one rank has some. Collective.
  FirstKeys(Communicator& comm, const std::vector<std::uint64_t>& keys)
      : comm_(comm), keys_(keys), ends_(collectively(comm, [&] {
          return keys.empty() ? std::vector<std::uint64_t>{0, 0}
                              : std::vector<std::uint64_t>{~keys.front(), keys.back()};
        })) {
    reduceNumbers(comm, ends_, MPI_MAX);
  }

  // The first keys of the blocks that begin at these rows. Collective.
  std::vector<std::uint64_t> of(std::span<const Index> rows) const {
    // For each block the interval [low, high] that contains its first key, and the number of keys
    // of all ranks below the middle of the interval.
    struct Search {
      std::vector<std::uint64_t> low, high, below;
      std::uint64_t middle(std::size_t k) const { return low[k] + (high[k] - low[k]) / 2; }
    };
    const std::size_t parts = rows.size();
    Search search = collectively(comm_, [&] {
      return Search{std::vector<std::uint64_t>(parts, ~ends_[0]),
                    std::vector<std::uint64_t>(parts, ends_[1]), std::vector<std::uint64_t>(parts)};
    });
    // All ranks have the same sums, so they halve the same intervals and finish together.
    while (search.low != search.high) {
      for (std::size_t k = 0; k < parts; ++k)
        search.below[k] = static_cast<std::uint64_t>(
            std::ranges::lower_bound(keys_, search.middle(k)) - keys_.begin());
      reduceNumbers(comm_, search.below, MPI_SUM);
      for (std::size_t k = 0; k < parts; ++k) {
        const std::uint64_t middle = search.middle(k);
        if (static_cast<Index>(search.below[k]) >= rows[k])
          search.high[k] = middle;
        else if (search.low[k] < search.high[k])
          search.low[k] = middle + 1;
      }
    }
    return std::move(search.low);
  }

private:
  Communicator& comm_;
  const std::vector<std::uint64_t>& keys_;
  // Complement of the smallest key, and the largest key, of all ranks: one reduction by MPI_MAX
  // finds both.
  std::vector<std::uint64_t> ends_;
};

} // namespace

// For example, rank 0 owns the ids {40, 10} (rows 0 and 1) and rank 1 owns {30, 20} (rows 2 and 3),
// with the cuts 0, 2, 4. The sorted list is 10 20 | 30 40, so the blocks begin with the ids 10 and
// 30. Rank 0 sends the pair (40, 0) to rank 1, rank 1 sends (20, 3) to rank 0, and the results are
// the rows {1, 3} on rank 0 and {2, 0} on rank 1.
std::vector<Index> rowsById(Communicator& comm, const std::vector<Index>& owned, Index first,
                            const std::vector<Index>& cuts) {
  if (cuts.back() == 0)
    return {};
  struct Owned {
    std::vector<std::uint64_t> keys;
    std::vector<std::pair<Index, Index>> ids; // Ids and their rows, in the order of the keys.
  };
  const Owned own = collectively(comm, [&] {
    Owned result;
    for (std::size_t i = 0; i < owned.size(); ++i)
      result.ids.emplace_back(owned[i], first + static_cast<Index>(i));
    std::ranges::sort(result.ids);
    for (const auto& [id, row] : result.ids)
      result.keys.push_back(keyOf(id));
    return result;
  });
  const FirstKeys firstKeys(comm, own.keys);
  // Blocks that begin after the last row are empty. If several blocks begin with the same id, all
  // but the last one are empty.
  const auto filled = static_cast<std::size_t>(
      std::ranges::lower_bound(cuts.begin(), cuts.end() - 1, cuts.back()) - cuts.begin());
  SparseMessages sends;
  std::size_t next = 0; // Index of the next own id to be sent.
  for (std::size_t part = 0; part < filled; part += kBlocksPerRound) {
    const std::size_t parts = std::min(kBlocksPerRound, filled - part);
    const std::vector<std::uint64_t> begins = firstKeys.of({&cuts[part], parts});
    collectively(comm, [&] {
      const auto send = [&](std::size_t to, std::size_t end) {
        for (; next < end; ++next) {
          std::vector<Index>& message = sends[static_cast<int>(to)];
          message.push_back(own.ids[next].first);
          message.push_back(own.ids[next].second);
        }
      };
      // A block ends where the next one begins; that of the last block is found in the next round.
      for (std::size_t k = 0; k < parts; ++k)
        if (part + k > 0)
          send(part + k - 1, static_cast<std::size_t>(
                                 std::ranges::lower_bound(own.keys, begins[k]) - own.keys.begin()));
      if (part + parts == filled)
        send(filled - 1, own.keys.size());
      return true;
    });
  }
  const SparseMessages received = sparseExchange(comm, std::move(sends));
  return collectively(comm, [&] {
    std::vector<std::pair<Index, Index>> sorted; // id, row
    for (const auto& [peer, data] : received)
      for (std::size_t i = 0; i < data.size(); i += 2)
        sorted.emplace_back(data[i], data[i + 1]);
    std::ranges::sort(sorted);
    std::vector<Index> rows;
    for (const auto& [id, row] : sorted)
      rows.push_back(row);
    return rows;
  });
}

int directoryRankOf(Index id, int ranks) {
  return static_cast<int>(hashOf(id) % static_cast<std::uint64_t>(ranks));
}

Numbering numberRows(Communicator& comm, const std::vector<Index>& owned,
                     const std::vector<Index>& wanted) {
  return Directory(comm, owned, wanted).number();
}

} // namespace tenon
