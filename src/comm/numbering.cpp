// SPDX-License-Identifier: BSD-2-Clause
// A directory of ids, distributed by a hash: owners say there which ids they have, others ask
// there, and are answered by the row. Three sparse exchanges, and one number for each rank, which
// layouts need anyway.
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

// The finaliser of splitmix64 (Steele, Lea and Flood 2014): ids that follow each other go to any
// ranks.
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
    const SparseMessages requested = sparseExchange(comm_, std::move(questions));
    SparseMessages answers = collectively(comm_, [&] {
      SparseMessages made;
      for (const auto& [peer, ids] : requested)
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

// Ids in their order as numbers without a sign.
std::uint64_t keyOf(Index id) {
  return static_cast<std::uint64_t>(id) ^ (std::uint64_t(1) << 63);
}

// So many parts are looked at together, that no list is of the order of the ranks and there are few
// rounds.
constexpr std::size_t kPartsAtOnce = 1024;

// The least keys with which parts can begin, found by bisection for several parts at once: as many
// ids are below such a key as rows are before the part.
class FirstKeys {
public:
  // `keys` are this rank's, in order; there is at least one on some rank. Collective.
  FirstKeys(Communicator& comm, const std::vector<std::uint64_t>& keys)
      : comm_(comm), keys_(keys), ends_(collectively(comm, [&] {
          return keys.empty() ? std::vector<std::uint64_t>{0, 0}
                              : std::vector<std::uint64_t>{~keys.front(), keys.back()};
        })) {
    reduceNumbers(comm, ends_, MPI_MAX);
  }

  // Of the parts that begin at these rows. Collective.
  std::vector<std::uint64_t> of(std::span<const Index> rows) const {
    struct Search {
      std::vector<std::uint64_t> low, high, below;
      std::uint64_t middle(std::size_t k) const { return low[k] + (high[k] - low[k]) / 2; }
    };
    const std::size_t parts = rows.size();
    Search search = collectively(comm_, [&] {
      return Search{std::vector<std::uint64_t>(parts, ~ends_[0]),
                    std::vector<std::uint64_t>(parts, ends_[1]), std::vector<std::uint64_t>(parts)};
    });
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
  std::vector<std::uint64_t> ends_; // the complement of the least, and the greatest of all ranks
};

} // namespace

std::vector<Index> rowsById(Communicator& comm, const std::vector<Index>& owned, Index first,
                            const std::vector<Index>& cuts) {
  if (cuts.back() == 0)
    return {};
  struct Owned {
    std::vector<std::uint64_t> keys;
    std::vector<std::pair<Index, Index>> ids; // and their rows, in the order of the keys
  };
  const Owned own = collectively(comm, [&] {
    Owned made;
    for (std::size_t i = 0; i < owned.size(); ++i)
      made.ids.emplace_back(owned[i], first + static_cast<Index>(i));
    std::ranges::sort(made.ids);
    for (const auto& [id, row] : made.ids)
      made.keys.push_back(keyOf(id));
    return made;
  });
  const FirstKeys firstKeys(comm, own.keys);
  // Parts that begin behind the last row are empty; of parts that begin with one id the last has
  // it.
  const auto filled = static_cast<std::size_t>(
      std::ranges::lower_bound(cuts.begin(), cuts.end() - 1, cuts.back()) - cuts.begin());
  SparseMessages sends;
  std::size_t next = 0; // of the own ids
  for (std::size_t part = 0; part < filled; part += kPartsAtOnce) {
    const std::size_t parts = std::min(kPartsAtOnce, filled - part);
    const std::vector<std::uint64_t> begins = firstKeys.of({&cuts[part], parts});
    collectively(comm, [&] {
      const auto give = [&](std::size_t to, std::size_t end) {
        for (; next < end; ++next) {
          std::vector<Index>& message = sends[static_cast<int>(to)];
          message.push_back(own.ids[next].first);
          message.push_back(own.ids[next].second);
        }
      };
      // A part's ids end where the next part begins, which of the last one here is found later.
      for (std::size_t k = 0; k < parts; ++k)
        if (part + k > 0)
          give(part + k - 1, static_cast<std::size_t>(
                                 std::ranges::lower_bound(own.keys, begins[k]) - own.keys.begin()));
      if (part + parts == filled)
        give(filled - 1, own.keys.size());
      return true;
    });
  }
  const SparseMessages taken = sparseExchange(comm, std::move(sends));
  return collectively(comm, [&] {
    std::vector<std::pair<Index, Index>> sorted; // id, row
    for (const auto& [peer, data] : taken)
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
