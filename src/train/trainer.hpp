// SPDX-License-Identifier: BSD-2-Clause
// The training loop: batches in, steps of an optimizer, validation, early stop, and whoever wants
// to know of them. Where it stands is the optimizer's number of steps, so that whoever restores
// network and optimizer goes on from there.
#pragma once

#include "linop/linear_op.hpp"
#include "train/dataset.hpp"
#include "train/optimizer.hpp"

#include <cmath>
#include <memory>

namespace tenon {

class Trainer final : public SettableObject {
public:
  static constexpr const char* kClass = "Trainer";

  // The network is set up; the loss is set up for its output. The optimizer is the network's.
  Trainer(Ref<Layer> network, Ref<Layer> loss, Ref<Optimizer> optimizer);
  const CommPtr& comm() const noexcept { return network_->comm(); }

  // They may change between runs.
  const Settings& settings() const noexcept override { return settings_; }

  // Throws TENON_ERR_STATE during a run, which works on the settings and batches that it began
  // with.
  void checkChange(const std::string& call) const override;

  // Fills x and the target, which may be null, with a batch of an epoch.
  using Fill = std::function<void(Index epoch, Index batch, DTensor& x, DTensor* target)>;
  struct Batches {
    Index count = 0; // in an epoch
    Ref<DTensor> x = {}, target = {};
    Fill fill = {};
  };
  // The batches of a dataset that is set up, in tensors of the network's type.
  Batches batchesOf(const Ref<Dataset>& dataset) const;
  void setBatches(Batches batches) { training_ = Feed{std::move(batches)}; }
  void setValidation(Batches batches) { validation_ = Feed{std::move(batches)}; }
  enum class Event { Step, Validation, Epoch };
  using Listener = std::function<void(Event event)>;
  // A listener that sets another one, or none, lives until it returns.
  void setListener(Listener listener) {
    listener_ = listener ? std::make_shared<const Listener>(std::move(listener)) : nullptr;
  }
  // Called by the setting checkpoint_every, and after the last step of a run.
  void setSave(std::function<void(Index step)> save) { save_ = std::move(save); }

  // Until so many epochs are complete, or somebody stops it. Collective.
  void run(Index epochs);
  // After the present step; one rank that asks is enough.
  void stop() noexcept { wantsStop_ = true; }

  Index steps() const noexcept { return optimizer_->steps(); }
  // Complete ones.
  Index epochs() const;
  // Losses: that of the last step; the mean of the finite ones of the epoch's steps so far, or of
  // the last complete one; of the last validation. NaN before the first, and of an epoch without a
  // finite one.
  double loss() const noexcept { return loss_; }
  double epochLoss() const noexcept { return epochLoss_; }
  double validationLoss() const noexcept { return validationLoss_; }

private:
  // Batches with the tensors that lie between them and the loss.
  struct Feed {
    Batches batches = {};
    Ref<DTensor> y = {}, dy = {}, value = {}, dvalue = {}, everywhere = {};
    LinearOpRef gather = {};
  };
  void prepare(Feed& feed);
  void applyTo(Feed& feed, Index epoch, Index batch);
  double evaluate(Index epoch, Index first, Index end);
  Index stepsPerEpoch() const;
  void takeStep();
  void validate();
  // Whether what is done every so many steps is due; 0 stands for the end of each epoch.
  bool isDue(Index every, bool endsEpoch) const {
    return every > 0 ? steps() % every == 0 : endsEpoch;
  }
  void tell(Event event);
  bool agreeOnStop();
  void checkReady(Index epochs) const;
  void takeOver(Settings after, const Settings::Names& names) override;

  Ref<Layer> network_, criterion_;
  Ref<Optimizer> optimizer_;
  Feed training_, validation_;
  Settings settings_;
  // Batches whose mean gradient makes a step; the last step of an epoch has those left over.
  Index accumulation_ = 0;
  Index validationEvery_ = 0, saveEvery_ = 0;
  double gradientNorm_ = 0; // the largest one; 0: there is no limit
  std::shared_ptr<const Listener> listener_;
  std::function<void(Index)> save_;
  bool wantsStop_ = false, isRunning_ = false;
  double loss_ = NAN, epochLoss_ = NAN, validationLoss_ = NAN;
  double sum_ = 0; // of the losses of this epoch's steps
  Index summed_ = 0;
};

} // namespace tenon
