// SPDX-License-Identifier: BSD-2-Clause
// Makes the links between patches, the blocks of a block-structured mesh: which side of which patch
// is the neighbour of which other side (geometry/patches/patch_links.hpp). Each rank lists its own
// patches; the lists of all ranks are gathered on each rank. All ranks then compute the same links
// from the same numbers, and detect the same errors. All functions are collective. Their local work
// is within collectively() (comm/agreement/agreement.hpp), since memory for it can be missing on
// one rank only: then all ranks throw, and none waits for another.
#include "linop/exchange/make_links.hpp"

#include "comm/agreement/agreement.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Returns the lists of all ranks, by rank. It sums arrays over the ranks, in which each rank fills
// only its own section: first the lengths of the lists, then their contents. The lists are short,
// so the sum of the agreements, reduceNumbers(), serves as an all-gather.
std::vector<std::vector<Index>> gatheredLists(Communicator& comm,
                                              const std::vector<Index>& ownList) {
  std::vector<std::uint64_t> counts = collectively(comm, [&] {
    std::vector<std::uint64_t> own(static_cast<std::size_t>(comm.size()), 0);
    own[comm.rank()] = ownList.size();
    return own;
  });
  reduceNumbers(comm, counts, MPI_SUM);
  std::vector<std::uint64_t> numbers = collectively(comm, [&] {
    std::size_t total = 0, offset = 0;
    for (int rank = 0; rank < comm.size(); ++rank) {
      offset += rank < comm.rank() ? counts[rank] : 0;
      total += counts[rank];
    }
    std::vector<std::uint64_t> ownSection(total, 0);
    for (std::size_t i = 0; i < ownList.size(); ++i)
      ownSection[offset + i] = static_cast<std::uint64_t>(ownList[i]);
    return ownSection;
  });
  if (!numbers.empty())
    reduceNumbers(comm, numbers, MPI_SUM);
  return collectively(comm, [&] {
    std::vector<std::vector<Index>> lists;
    std::size_t next = 0;
    for (std::uint64_t count : counts) {
      std::vector<Index>& list = lists.emplace_back();
      for (std::uint64_t i = 0; i < count; ++i)
        list.push_back(static_cast<Index>(numbers[next++]));
    }
    return lists;
  });
}

} // namespace

// Tiles of a box: `tiles` has their numbers per dimension, `ends` the boundary modes at the ends of
// the box, and `places` the row-major numbers of this rank's tiles.
PatchLinksPtr makeTileLinks(Communicator& comm, const Shape& tiles,
                            const std::vector<BoxEnds>& ends, const std::vector<Index>& places) {
  const std::vector<std::vector<Index>> lists = gatheredLists(comm, places);
  return collectively(comm, [&] { return linkTiles(tiles, lists, ends); });
}

// Patches joined at their sides: `sides` has, for each patch of this rank, the neighbours at its
// sides.
PatchLinksPtr makeSideLinks(Communicator& comm, int spatialRank,
                            const std::vector<PatchSide>& sides) {
  const std::vector<Index> ownNumbers = collectively(comm, [&] {
    std::vector<Index> numbers;
    for (const PatchSide& side : sides)
      numbers.insert(numbers.end(), {side.patch, side.side, side.turned});
    return numbers;
  });
  const std::vector<std::vector<Index>> lists = gatheredLists(comm, ownNumbers);
  return collectively(comm, [&] {
    std::vector<std::vector<PatchSide>> ofRanks; // The sides of each rank, three numbers per side.
    for (const std::vector<Index>& numbers : lists) {
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
