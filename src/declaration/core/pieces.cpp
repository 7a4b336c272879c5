// SPDX-License-Identifier: BSD-2-Clause
// Compares the most that pieces can save with what they take at least: a kernel call for each
// strip. The interior alone reads no halo, so that it is the first piece and the strips are the
// others.
#include "declaration/core/pieces.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The seconds of one more kernel call, with what oneDNN does around it.
constexpr double kStripSeconds = 1e-5;

// The most that pieces can save: the interior waits neither for the copy of the largest part nor
// for a message.
double secondsSaved(const Layout& plain, Index elementBytes, const PieceRates& rates) {
  Index most = 1;
  for (int d = 0; d < plain.rank(); ++d) {
    Index widest = 0;
    for (int part = 0; part < plain.parts(d); ++part)
      widest = std::max(widest, plain.owned(d, part).size());
    most *= widest;
  }
  return rates.latency + double(most * elementBytes) / rates.copyBandwidth;
}

} // namespace

Form formThatRuns(const Declaration& declaration, Index elementBytes,
                  const std::optional<PieceRates>& rates,
                  const std::function<Form(bool inPieces)>& formOf) {
  const bool canOverlap = declaration.settings().has("overlap");
  const std::string requested = canOverlap ? declaration.value<std::string>("overlap") : "off";
  if (requested == "off" || (requested == "auto" && !rates))
    return formOf(false);
  Form form = formOf(true);
  const std::size_t strips = form.pieces.empty() ? 0 : form.pieces.size() - 1;
  const bool saves =
      strips > 0 && rates &&
      secondsSaved(form.uses.front(), elementBytes, *rates) > double(strips) * kStripSeconds;
  return requested == "on" || saves || strips == 0 ? form : formOf(false);
}

} // namespace tenon
