// SPDX-License-Identifier: BSD-2-Clause
// The plan of a network that is known only by its name or file, and is not run: a table of sizes,
// for the models of papers and for Tenon's own prices, or a network of layers, for Tenon's own
// prices only.
#pragma once

#include "planner/network_plan.hpp"
#include "studies/network_table.hpp"
#include "studies/published_costs.hpp"

namespace tenon {

// A table or a network file of layers (declaration/core/network_file.hpp); the format in the file
// decides.
struct NetworkSource {
  std::string name;
  std::optional<NetworkTable> table;
  std::optional<LayerDescription> layers; // exactly one of the two is set
};

// Reads a network by its name in share/tenon/networks/tables or share/tenon/networks, or from a
// path, which contains a slash or ends with .json. Throws TENON_ERR_FILE and TENON_ERR_FORMAT, as
// the readers of both formats do.
NetworkSource readNetworkSource(const std::string& nameOrPath);

// The plan of such a network.
class NamedPlan final : public NetworkPlan {
public:
  // Throws TENON_ERR_ARG unless the batch is at least 1.
  NamedPlan(NetworkSource network, Index batch);

  // Seconds by an equation of published_costs.hpp. Throws TENON_ERR_SUPPORT if the network is not a
  // table.
  double publishedSeconds(const std::string& equation, const PaperGrid& grid,
                          const PaperGrid& convolutions) const;

private:
  void applySettings(Settings after, const Settings::Names& names) override;
  DeclaredNetwork layers() const override;
  DeclaredNetwork layersFor(const std::vector<Shape>& inputs) const;
  std::unique_ptr<CostModel> prices(const FineGrid& grid) const override;
  void checkTogether() const override;
  void checkShape(const Shape& shape) const;
  const NetworkTable& table(const std::string& who) const;
  T1Link paperLink() const { return {link().latency, 1 / link().bandwidth}; }
  bool isT1() const { return value<std::string>("cost_model") == "t1"; }

  NetworkSource source_;
};

} // namespace tenon
