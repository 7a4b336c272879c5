// SPDX-License-Identifier: BSD-2-Clause
// Gathers what ranks have of the links. All ranks then make the same links of the same numbers, and
// find the same errors.
#include "linop/exchange/make_links.hpp"

#include "comm/agreement/agreement.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The lists of all ranks. A sum in which each rank's numbers have places of their own.
std::vector<std::vector<Index>> gatheredLists(Communicator& comm, const std::vector<Index>& mine) {
  std::vector<std::uint64_t> counts = collectively(comm, [&] {
    std::vector<std::uint64_t> own(static_cast<std::size_t>(comm.size()), 0);
    own[comm.rank()] = mine.size();
    return own;
  });
  reduceNumbers(comm, counts, MPI_SUM);
  std::vector<std::uint64_t> all = collectively(comm, [&] {
    std::size_t total = 0, before = 0;
    for (int rank = 0; rank < comm.size(); ++rank) {
      before += rank < comm.rank() ? counts[rank] : 0;
      total += counts[rank];
    }
    std::vector<std::uint64_t> numbers(total, 0);
    for (std::size_t i = 0; i < mine.size(); ++i)
      numbers[before + i] = static_cast<std::uint64_t>(mine[i]);
    return numbers;
  });
  if (!all.empty())
    reduceNumbers(comm, all, MPI_SUM);
  return collectively(comm, [&] {
    std::vector<std::vector<Index>> lists;
    std::size_t at = 0;
    for (std::uint64_t count : counts) {
      std::vector<Index>& list = lists.emplace_back();
      for (std::uint64_t i = 0; i < count; ++i)
        list.push_back(static_cast<Index>(all[at++]));
    }
    return lists;
  });
}

} // namespace

PatchLinksPtr makeTileLinks(Communicator& comm, const Shape& tiles,
                            const std::vector<BoxEnds>& ends, const std::vector<Index>& places) {
  const std::vector<std::vector<Index>> all = gatheredLists(comm, places);
  return collectively(comm, [&] { return linkTiles(tiles, all, ends); });
}

PatchLinksPtr makeSideLinks(Communicator& comm, int spatialRank,
                            const std::vector<PatchSide>& sides) {
  const std::vector<Index> mine = collectively(comm, [&] {
    std::vector<Index> numbers;
    for (const PatchSide& side : sides)
      numbers.insert(numbers.end(), {side.patch, side.side, side.turned});
    return numbers;
  });
  const std::vector<std::vector<Index>> all = gatheredLists(comm, mine);
  return collectively(comm, [&] {
    std::vector<std::vector<PatchSide>> ofRanks;
    for (const std::vector<Index>& numbers : all) {
      std::vector<PatchSide>& list = ofRanks.emplace_back();
      for (std::size_t i = 0; i < numbers.size(); i += 3)
        list.push_back(
            {numbers[i], static_cast<int>(numbers[i + 1]), static_cast<int>(numbers[i + 2])});
    }
    return linkSides(spatialRank, ofRanks);
  });
}

std::string LinksObject::describe() const {
  const Index own = links_->pattern().boxOfRank(comm_->rank())[0].size();
  return fmt::format("{}: {}\n  rank {} has {}\n", headingOf(*this), links_->describe(),
                     comm_->rank(), counted(own, "patch", "patches"));
}

} // namespace tenon
