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

#include "layer/layer.hpp"

namespace tenon {

class CrossEntropyLayer final : public OneInputLayer {
public:
  explicit CrossEntropyLayer(CommPtr comm) : OneInputLayer(std::move(comm)) {}
  const char* type() const noexcept override { return "crossentropy"; }

  // Labels of the next Apply: int64 [N], in any layout on the mesh of the logits. Kept by
  // reference.
  void setTarget(Ref<DTensor> labels);
  const Ref<DTensor>& target() const noexcept { return target_; }

private:
  std::unique_ptr<Setup> makeSetup(const Layout& input) override;
  Ref<DTensor> target_;
};

} // namespace tenon
