// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: optimizers and datasets. */
#ifndef TENON_CXX_TRAINING_HPP
#define TENON_CXX_TRAINING_HPP

#include <tenon/cxx/layer.hpp>

#include <string>

namespace tenon {

class Optimizer : public Handle<TenonOptimizer> {
public:
  using Handle::Handle;
  Optimizer(const Layer& layer, const char* type, const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerCreate, layer.get(), type, out());
  }
  Optimizer share(const Where& where = Where::current()) const {
    return Optimizer(retained(where));
  }

  void setLearningRate(double rate, const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerSetLearningRate, get(), rate);
  }
  void setFromOptions(const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetFromOptions, object());
  }
  /** The norm before the scaling. */
  double clipGradientNorm(double maximum, const Where& where = Where::current()) {
    double norm = 0;
    detail::run(where, TenonOptimizerClipGradientNorm, get(), maximum, &norm);
    return norm;
  }
  void step(const Where& where = Where::current()) {
    detail::run(where, TenonOptimizerStep, get());
  }
};

class Dataset : public Handle<TenonDataset> {
public:
  using Handle::Handle;
  Dataset(MPI_Comm comm, const std::string& images, const std::string& labels,
          const Where& where = Where::current()) {
    detail::run(where, TenonDatasetCreateIDX, comm, images.c_str(), labels.c_str(), out());
  }
  void setUp(const Layout& x, const Layout& labels, const Where& where = Where::current()) {
    detail::run(where, TenonDatasetSetUp, get(), x, labels);
  }
  TenonInt batches(const Where& where = Where::current()) const {
    TenonInt count = 0;
    detail::run(where, TenonDatasetGetBatchCount, get(), &count);
    return count;
  }
  void batch(TenonInt epoch, TenonInt batch, DTensor& x, DTensor& labels,
             const Where& where = Where::current()) {
    detail::run(where, TenonDatasetGetBatch, get(), epoch, batch, x.get(), labels.get());
  }
};

} // namespace tenon

#endif
