// SPDX-License-Identifier: BSD-2-Clause
// The place of a kernel: which kernel of a form's map list, on which rank, with which data type,
// context and backend. Declaration::makeKernel() makes the kernel of a place. A place needs neither
// a layer nor MPI, and its rank can be any rank, not only the one of this process.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/kernel/array_kernel.hpp"
#include "kernels/base/backend.hpp"

#include <optional>

namespace tenon {

struct KernelPlace {
  // Data type and backend are those of the declaration's settings.
  KernelPlace(const Declaration& declaration, const Form& form, const MapList& list, int number,
              int rank, KernelContextPtr context);

  const Form& form;
  const MapList& list; // of the form
  int number;          // index of the kernel in the list's kernels
  int rank;
  TenonDataType type;
  KernelContextPtr context;
  Backend backend; // the setting, which can be Auto

  const std::string& name() const { return list.kernels()[number].name; }
  // The layouts of the first value that the kernel reads and of the value that it writes.
  const Layout& reads() const { return list.values()[map().x.front()].layout; }
  const Layout& writes() const { return list.values()[map().y].layout; }
  // The use layout of the first input, and the boxes of this input and of the output on the rank,
  // in global indices. Only for types with one kernel, or with one per piece of the output that is
  // computed separately.
  const Layout& use() const { return form.useOf(number); }
  Box input() const { return use().boxOfRank(rank); }
  Box outputs() const { return form.outputsOf(number, form.output.grid().position(rank)); }
  // The backend of kernels without a special one (such as direct convolution), for the data type
  // and the space.
  Backend resolvedBackend() const;

private:
  const Map& map() const;
};

// Bytes that the kernels of a form need on a rank, beside the arrays with which they are called:
// scratch memory, which all kernels of a context use one after the other, and memory of their own.
struct KernelBytes {
  Index scratch = 0, own = 0;
};
// Kernels are made and discarded to find the numbers, and the scratch memory of the context does
// not grow. No value for a type on tensors, whose kernels the module `layer` makes.
std::optional<KernelBytes> kernelBytes(const Declaration& declaration, const Form& form, int rank,
                                       const KernelContextPtr& context);

} // namespace tenon
