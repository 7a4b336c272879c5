// SPDX-License-Identifier: BSD-2-Clause
// The mean cross-entropy of log-softmax over logits z [N, C] and labels [N]:
//
//   loss = 1/N sum over n of ( log sum over c of exp(z[n,c] - m[n]) + m[n] - z[n, label[n]] ),
//   m[n] = max over c of z[n,c],      dloss/dz[n,c] = (softmax(z)[n,c] - [c = label[n]]) / N.
//
// Letters on a mesh axis: n batch, c classes, B, R; batch and classes may be split at once. The
// layer is a small graph: local maxima, P -> B by maximum; local sums and label logits, P -> B;
// local losses, P -> B. The maximum is not differentiated, since the loss does not depend on m.
// The output is the scalar [1], on all ranks that hold the input; its dual is partial: seed it with
// 1 on coordinate 0 and 0 elsewhere (FillConstant does).
#pragma once

#include "layer/loss_layer.hpp"

namespace tenon {

// The target is the labels: int64 [N].
class CrossEntropyLayer final : public LossLayer {
public:
  explicit CrossEntropyLayer(CommPtr comm) : LossLayer(std::move(comm)) {}
  const char* type() const noexcept override { return "crossentropy"; }

private:
  std::unique_ptr<Setup> makeSetup(const Layout& input) override;
};

} // namespace tenon
