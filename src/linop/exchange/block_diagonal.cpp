// SPDX-License-Identifier: BSD-2-Clause
// The direct sum of operators: an executor whose fields have the schedules of the operators. An
// adjoint of an operator has its schedule, transposed.
#include "linop/exchange/block_diagonal.hpp"

#include "linop/algebra/composition.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <deque>

namespace tenon {

namespace {

class BlockDiagonal final : public LinearOp {
public:
  BlockDiagonal(std::vector<LinearOpRef> blocks, const CarrierPolicy& policy)
      : LinearOp(blocks.front()->comm(), blocks.front()->domain(), blocks.front()->range(),
                 blocks.front()->domainType(), blocks.front()->rangeType()),
        blocks_(std::move(blocks)), policyText_(policy.agreedText()) {
    makeExecutor(policy);
  }

  std::string_view type() const noexcept override { return "blockdiagonal"; }
  std::string agreedText() const override {
    return fmt::format("{}{}{}", type(), listed(blocks_, "and"), policyText_);
  }
  std::string describe() const override {
    return fmt::format("{}: {} of {}\n{}", headingOf(*this), type(),
                       counted(std::ssize(blocks_), "operator"), describeMore());
  }
  std::string describeMore() const override {
    const Sent bytes = executor_->sent(Sense::Forward);
    return fmt::format("  one exchange: rank {} sends {}, {}; transport {}\n{}", comm()->rank(),
                       counted(bytes.messages, "message"), sizeText(bytes.bytes),
                       executor_->describeTransport(), describeParts(blocks_, "operator"));
  }
  std::optional<Sent> sent() const override { return executor_->sent(Sense::Forward); }
  Index bufferBytes() const override { return executor_->bufferBytes(); }
  bool isWithinRank() const override { return executor_->isWithinRank(); }
  bool takesFields() const override { return true; }
  std::span<const LinearOpRef> blocks() const override { return blocks_; }

private:
  void makeExecutor(const CarrierPolicy& policy) {
    std::deque<Schedule> schedules; // their addresses last
    std::vector<FieldSchedule> fields;
    for (const LinearOpRef& block : blocks_) {
      const OneExchange exchange = block->asExchange();
      fields.push_back({schedules.emplace_back(exchange.executors->schedule()),
                        exchange.executors->type(), exchange.isTransposed});
    }
    executor_ = std::make_unique<ScheduleExecutor>(comm(), fields, title(), policy);
  }
  void doBegin(const Action& action) override { executor_->begin(action); }
  void doEnd(const Action& action) override { executor_->end(action); }

  std::vector<LinearOpRef> blocks_;
  std::string policyText_;
  std::unique_ptr<ScheduleExecutor> executor_;
};

// The operators, with those of block diagonals among them in their place.
std::vector<LinearOpRef> flattened(const std::vector<LinearOpRef>& ops) {
  std::vector<LinearOpRef> blocks;
  for (const LinearOpRef& op : ops)
    if (op->blocks().empty())
      blocks.push_back(op);
    else
      blocks.insert(blocks.end(), op->blocks().begin(), op->blocks().end());
  return blocks;
}

void checkBlock(const LinearOp& first, const LinearOp& block, std::size_t index) {
  if (block.comm() != first.comm())
    throw Error(TENON_ERR_ARG, fmt::format("operators 0 and {} of the block diagonal are on "
                                           "different communicators; create them on the same one",
                                           index));
  if (block.blocks().empty() && !block.asExchange().executors)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operator {} of the block diagonal is {} of type {}, which is not one "
                            "exchange, as halo exchanges, index maps and their adjoints are; apply "
                            "it by itself{}",
                            index, block.title(), block.type(),
                            block.type() == "conversion"
                                ? ", or create it with -tenon_conversion_route exchange"
                                : ""));
}

} // namespace

LinearOpRef blockDiagonal(const std::vector<LinearOpRef>& ops, const CarrierPolicy& policy) {
  for (std::size_t i = 0; i < ops.size(); ++i)
    checkBlock(*ops.front(), *ops[i], i);
  std::vector<LinearOpRef> blocks = flattened(ops);
  if (blocks.empty() || blocks.size() > kMaxBlocks)
    throw Error(TENON_ERR_ARG, fmt::format("the block diagonal has {} operators; pass 1 to {}",
                                           blocks.size(), kMaxBlocks));
  return makeRef<BlockDiagonal>(std::move(blocks), policy);
}

} // namespace tenon
