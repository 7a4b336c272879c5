// SPDX-License-Identifier: BSD-2-Clause
// Loads and saves weight files (parameters and running statistics of a layer). For loading, each
// rank reads its own block of every tensor into staged copies, all ranks agree that this succeeded,
// and only then are the copies stored in the layer; an unsuitable file therefore leaves the layer
// unchanged. Saving gathers one tensor after the other on rank 0, which writes it; rank 0 needs
// memory for the largest tensor only.
//
//   loadWeights()   ReadWeights: match parameters with tensors of the file, read; agree; store()
//   saveWeights()   for each tensor: conversion to rank 0, write; agree
#include "layer/networks/weights.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/host_view.hpp"
#include "layer/networks/state.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/files/part_file.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/text/text.hpp"
#include "weights/assignment.hpp"
#include "weights/weights_writer.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kWeightsSpecs[] = {
    {"weights_map", OptionSpec::String, nullptr,
     "JSON file that says which tensor of a weights file each parameter takes"}};
const OptionRegistration kWeightsOptions{{"layer", kWeightsSpecs}};

// The parameters and running statistics of a layer that is set up.
std::vector<NamedTensor> tensorsOf(const Layer& layer) {
  if (!layer.isSetUp())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no parameters yet; call TenonLayerSetUp() first", layer.title()));
  return namedTensors(layer);
}

const Layout& storageOf(const NamedTensor& tensor) {
  return std::visit([](const auto& of) -> const Layout& { return of->storage(); }, tensor.of);
}

// The tensors of the layer in the form in which assignTensors() matches them with the file: the
// path of the layer, the name within it, the shape, and the name in weight files.
std::vector<WantedTensor> wantedOf(const std::vector<NamedTensor>& tensors) {
  std::vector<WantedTensor> wanted;
  for (const NamedTensor& named : tensors) {
    const std::size_t slash = named.path.rfind('/');
    const bool isInside = slash != named.path.npos;
    wanted.push_back({isInside ? named.path.substr(0, slash) : "",
                      isInside ? named.path.substr(slash + 1) : named.path,
                      storageOf(named).shape(), named.file, named.isKnown});
  }
  return wanted;
}

// The rules of the user by which parameters take tensors of the file; none: by name.
std::optional<WeightsMap> readMap(const Layer& layer, const std::string& map) {
  const std::string path =
      map.empty() ? options().findString(layer.prefix(), "weights_map").value_or("") : map;
  if (path.empty())
    return std::nullopt;
  return parseWeightsMap(readWholeFile(path, "weights map"), path);
}

// Reads the elements of a box of a parameter from a tensor in the file. The result has the
// parameter's order of dimensions.
template <class T>
std::vector<T> readBlock(const WeightsFile& file, const TensorSource& source, const Box& box) {
  // The tensor in the file can have another order of dimensions, for instance [out, in] where the
  // parameter is [in, out]. For each dimension of the file's tensor, `parts` has the range to read
  // and the stride of this dimension in the block.
  std::vector<WeightsFile::Part> parts(file.tensors()[source.tensor].shape.size(), {0, 1, 1});
  Index stride = 1;
  for (std::size_t d = box.size(); d-- > 0;) {
    if (source.axes[d] >= 0) // -1: a dimension of extent 1 that the file lacks
      parts[static_cast<std::size_t>(source.axes[d])] = {box[d].begin, box[d].end, stride};
    stride = checkedProduct(stride, box[d].size(), "the number of elements of a parameter");
  }
  std::vector<T> block(static_cast<std::size_t>(stride));
  file.read(file.tensors()[source.tensor], parts, block.data());
  return block;
}

// The tensors that this process has read, before they are stored in the layer. describe() returns a
// text that is compared between ranks, because one path can lead to different files on different
// machines.
class ReadWeights {
public:
  ReadWeights(const Layer& layer, const std::string& path, const std::string& map)
      : tensors_(tensorsOf(layer)) {
    const WeightsFile file(openBytes(path));
    const std::optional<WeightsMap> rules = readMap(layer, map);
    const std::vector<TensorSource> sources =
        assignTensors(wantedOf(tensors_), file, rules ? &*rules : nullptr, layer.title());
    text_ = file.describe();
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (const auto* parameter = std::get_if<Ref<Parameter>>(&tensors_[i].of))
        // Detect a parameter that must not be written while nothing has been changed.
        (*parameter)->value().checkWritable();
      if (sources[i].isNone()) {
        staged_.emplace_back();
        continue;
      }
      text_ += fmt::format("{} from {}; ", tensors_[i].path, sources[i].tensor);
      staged_.push_back(makeRef<DTensor>(layer.comm(), storageOf(tensors_[i]), tensors_[i].type));
      visitFloating(tensors_[i].type, [&]<class T>(T) {
        fill(*staged_.back(), readBlock<T>(file, sources[i], staged_.back()->box()));
      });
    }
  }

  const std::string& describe() const noexcept { return text_; }

  // Stores all tensors in the layer. Loaded parameters count as initialized. Collective.
  void store() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (!staged_[i])
        continue;
      std::visit(
          [&](const auto& of) {
            copyLocal(*staged_[i], of->value());
            of->valueChanged();
          },
          tensors_[i].of);
      if (const auto* parameter = std::get_if<Ref<Parameter>>(&tensors_[i].of))
        (*parameter)->setInitialized();
    }
  }

private:
  template <class T>
  void fill(DTensor& staged, std::vector<T> block) {
    // The block has exactly the elements of the tensor on this rank, so the tensor uses its memory
    // without a copy.
    auto memory = std::make_shared<std::vector<T>>(std::move(block));
    staged.placeBox(memory->data(), /*readOnly=*/true);
    blocks_.push_back(std::move(memory));
  }

  std::vector<NamedTensor> tensors_;
  std::vector<std::shared_ptr<void>> blocks_; // the memory of the staged tensors
  std::vector<Ref<DTensor>> staged_;
  std::string text_;
};

// Names, types and shapes of the tensors to be written, which the header of the file lists.
std::vector<StoredTensor> storedTensors(const std::vector<NamedTensor>& named) {
  std::vector<StoredTensor> tensors;
  for (const NamedTensor& namedTensor : named) {
    if (namedTensor.isKnown)
      continue;
    const bool isSingle = namedTensor.type == TENON_FLOAT32;
    StoredTensor tensor{.name = namedTensor.file,
                        .type = isSingle ? ElementType::F32 : ElementType::F64,
                        .shape = namedTensor.extents.value_or(storageOf(namedTensor).shape())};
    if (elements(tensor.shape) != elements(storageOf(namedTensor).shape()))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("parameter_names gives {} other extents than those of {}, but for "
                              "extents of 1",
                              namedTensor.file, namedTensor.path));
    tensor.bytes = bytesOf(tensor.shape, tensor.type).value();
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

} // namespace

// Each rank reads its blocks; the layer is changed only if all ranks have succeeded.
void loadWeights(Layer& layer, const std::string& path, const std::string& map) {
  static const int event = logEvent("LayerLoadWeights");
  const LogScope scope(event);
  collectively(
      *layer.comm(), "what the weights file holds",
      [&] { return std::make_unique<ReadWeights>(layer, path, map); },
      [](const auto& read) { return read->describe(); })
      ->store();
}

Ref<DTensor> wholeOnRoot(const DTensor& value) {
  const Layout onRoot({.shape = value.layout().shape(),
                       .grid = Grid::make({1}),
                       .properties = {Property::broadcast()}});
  Ref<DTensor> whole = makeRef<DTensor>(value.comm(), onRoot, value.dataType(), value.space());
  makeConversion(value.comm(), value.layout(), onRoot, value.dataType())->apply(value, *whole);
  return whole;
}

// Rank 0 writes the file; the other ranks send it their blocks.
void saveWeights(Layer& layer, const std::string& path) {
  static const int event = logEvent("LayerSaveWeights");
  const LogScope scope(event);
  const bool writes = layer.comm()->rank() == 0;
  auto writer = collectively(*layer.comm(), [&] {
    const std::vector<NamedTensor> tensors = tensorsOf(layer);
    return writes ? makeWeightsWriter(path, storedTensors(tensors)) : nullptr;
  });
  // If rank 0 cannot write, it still takes part in all conversions, because the other ranks wait
  // for its messages. The other ranks learn of the failure in the agreement at the end.
  std::optional<Error> failure;
  for (const NamedTensor& named : namedTensors(layer)) {
    if (named.isKnown)
      continue;
    // A pointer, because GCC 13 stores a reference here in the function object.
    const DTensor& value =
        *std::visit([](const auto& of) -> const DTensor* { return &of->value(); }, named.of);
    const Ref<DTensor> whole = wholeOnRoot(value);
    Ref<DTensor> copy;
    try {
      if (writes && !failure)
        writer->add(arrayOf(inSpace(*whole, layer.comm(), Space::Host, copy)));
    } catch (...) {
      failure = caughtError();
    }
  }
  collectively(*layer.comm(), [&] {
    if (failure)
      throw *failure;
    if (writes)
      writer->commit();
    return 0;
  });
}

} // namespace tenon
