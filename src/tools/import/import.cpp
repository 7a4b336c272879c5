// SPDX-License-Identifier: BSD-2-Clause
// `tenon import FILE`: reads a trained network (.pt2 of torch.export.save(), or ONNX) and prints
// the layers of this library that it becomes, or everything that cannot be imported. With -o it
// also writes them as a network file and its weights. This is done by one process without MPI. With
// -prove it instead runs the network on all ranks of the job, on the input that the file contains
// for tests, and compares the output with the file's (TenonLayerTestModel()). runImport() is
// declared in tools/commands.hpp.
#include "import/model_report.hpp"
#include "tools/commands.hpp"
#include "tools/handles.hpp"
#include "weights/assignment.hpp"
#include "weights/weights_writer.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace tenon::tools {

namespace {

constexpr const char* kUsage =
    "usage: tenon import FILE [-extents x=1,2,64,64] [-processes N] [-o NAME] [-prove [-split "
    "D,D]]\n\n"
    "Prints the layers that a trained network becomes (.pt2 of torch.export.save(), or ONNX), what "
    "they\n"
    "cost on a number of processes and how far an output sees; or all that cannot be imported.\n\n"
    "  -extents NAME=N,N,...  shape of an input; may be repeated\n"
    "  -processes N           number of processes of a job (default 1)\n"
    "  -o NAME                also write NAME.json and NAME.safetensors, a network file and its "
    "weights\n"
    "  -prove                 run the test that the file holds, on all ranks: mpiexec -n 4 tenon "
    "import FILE -prove\n"
    "  -split D,D             dimensions of the inputs that -prove splits, counted from 0, each on "
    "an "
    "axis\n"
    "                         of the process grid: 2 or 3 for rows or columns of fields, 2,3 for "
    "blocks\n";

// The arguments of the command.
struct Request {
  std::string file, writes; // the model; the name for -o, or ""
  std::vector<std::pair<std::string, Shape>> extents;
  Index processes = 1;
  bool proves = false;
  std::vector<int> split; // the dimensions of -split
};

// Parses a number above 0; `what` names it in the message.
Index numberIn(const std::string& word, const char* what) {
  Index number = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || number < 1)
    throw std::runtime_error(fmt::format("{} is '{}'; it must be a number above 0", what, word));
  return number;
}

// Parses NAME=N,N,...: the shape of an input.
std::pair<std::string, Shape> extentsIn(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos)
    throw std::runtime_error(fmt::format("-extents is '{}'; expected NAME=N,N,...", word));
  Shape shape;
  for (std::size_t at = equals + 1; at <= word.size();) {
    const std::size_t end = std::min(word.find(',', at), word.size());
    shape.push_back(numberIn(word.substr(at, end - at), "an extent"));
    at = end + 1;
  }
  return {word.substr(0, equals), shape};
}

// Parses D,D: dimensions counted from 0.
std::vector<int> dimensionsIn(const std::string& word) {
  std::vector<int> dims;
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find(',', at), word.size());
    int dim = 0;
    const auto parsed = std::from_chars(word.data() + at, word.data() + end, dim);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + end || dim < 0)
      throw std::runtime_error(fmt::format("-split is '{}'; expected dimensions as in 2,3", word));
    dims.push_back(dim);
    at = end + 1;
  }
  return dims;
}

Request requestOf(int argc, char** argv) {
  Request request;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (i + 1 == argc)
        throw std::runtime_error(word + " needs a value");
      return std::string(argv[++i]);
    };
    if (word == "-extents")
      request.extents.push_back(extentsIn(value()));
    else if (word == "-processes")
      request.processes = numberIn(value(), "-processes");
    else if (word == "-o")
      request.writes = value();
    else if (word == "-prove")
      request.proves = true;
    else if (word == "-split")
      request.split = dimensionsIn(value());
    else if (isOption(argv[i]) || !request.file.empty())
      throw std::runtime_error(fmt::format("unknown argument '{}'; see tenon import -help", word));
    else
      request.file = word;
  }
  if (request.file.empty())
    throw std::runtime_error("the path of a model is missing; see tenon import -help");
  if (!request.split.empty() && !request.proves)
    throw std::runtime_error("-split says how -prove splits inputs; add -prove");
  return request;
}

// Writes NAME.json, the layers, and NAME.safetensors, their parameters in float64. A parameter has
// the name that the layer's setting parameter_names gives it, or layer/parameter.
void writeNetwork(const std::string& name, const ModelProgram& program, const ByteSource& file,
                  const std::vector<Shape>& inputs) {
  const ImportedNetwork network = importNetwork(program, file, inputs);
  std::ofstream text(name + ".json");
  if (!(text << networkText(network.graph)) || !text.flush())
    throw std::runtime_error(fmt::format("cannot write '{}.json'", name));
  std::vector<StoredTensor> tensors;
  for (const ImportedNetwork::Parameter& parameter : network.parameters) {
    const LayerDescription& layer =
        network.graph.nodes[static_cast<std::size_t>(parameter.node)].layer;
    StoredName stored{nameInFile(layer.name + "/" + parameter.name)};
    for (const auto& [name, value] : layer.settings)
      if (name == "parameter_names")
        stored = storedName(std::get<std::string>(value), parameter.name).value_or(stored);
    tensors.push_back({.name = stored.name,
                       .type = ElementType::F64,
                       .shape = stored.extents.value_or(parameter.value.shape()),
                       .bytes = parameter.value.elements() * Index(sizeof(double))});
  }
  const ModelWeights weights(program, file);
  const auto writer = makeWeightsWriter(name + ".safetensors", tensors);
  for (const ImportedNetwork::Parameter& parameter : network.parameters) {
    tenon::Box box;
    for (const Index extent : parameter.value.shape())
      box.push_back({0, extent});
    std::vector<double> numbers(static_cast<std::size_t>(parameter.value.elements()));
    weights.read(parameter.value, box, numbers.data());
    writer->add(numbers.data());
  }
  writer->commit();
  std::printf("written: %s.json and %s.safetensors\n", name.c_str(), name.c_str());
}

// The test of a model on all ranks. An object of the library is made in each step.
class Proof {
public:
  Proof(const Request& request, const std::vector<Shape>& inputs)
      : file_(request.file), inputs_(inputs) {}

  // Sets the network up with a split of the inputs, in the first of these dimensions that an input
  // has; for no dimensions, every rank has all of it.
  TenonErrorCode setUp(const std::vector<int>& dims) {
    return setUp(std::vector{worldSize()}, [&dims](int rank) {
      std::string property = "B";
      for (auto d = dims.rbegin(); d != dims.rend(); ++d)
        property = *d < rank ? fmt::format("S{}", *d) : property;
      return property;
    });
  }
  // Splits all of these dimensions, each on an axis of the process grid; an input that lacks one is
  // replicated along its axis.
  TenonErrorCode setUpBlocks(const std::vector<int>& dims) {
    std::vector<int> extents(dims.size());
    const int axes = static_cast<int>(dims.size());
    MPI_Dims_create(worldSize(), axes, extents.data());
    return setUp(extents, [&dims](int rank) {
      std::string properties;
      for (const int d : dims)
        properties += fmt::format("{}{}", properties.empty() ? "" : ",",
                                  d < rank ? fmt::format("S{}", d) : "B");
      return properties;
    });
  }
  TenonErrorCode run() const { return TenonLayerTestModel(net_); }
  const std::string& split() const { return split_; }

private:
  // Sets the network up on a process grid; propertiesOf(dimensions) are those of an input.
  template <class PropertiesOf>
  TenonErrorCode setUp(const std::vector<int>& extents, const PropertiesOf& propertiesOf) {
    TenonErrorCode code = TENON_SUCCESS;
    const auto done = [&](TenonErrorCode result) { return (code = result) == TENON_SUCCESS; };
    std::vector<Layout> layouts(inputs_.size());
    std::vector<TenonLayout> handles;
    net_ = Layer();
    grid_ = Partition();
    bool isGood = done(TenonLayerCreateFromModel(MPI_COMM_WORLD, file_.c_str(), net_.out())) &&
                  done(TenonObjectSetText(net_.object(), "model_test", "off")) &&
                  done(TenonPartitionCreate(MPI_COMM_WORLD, static_cast<int>(extents.size()),
                                            extents.data(), grid_.out()));
    split_.clear();
    for (std::size_t i = 0; isGood && i < inputs_.size(); ++i) {
      const int rank = static_cast<int>(inputs_[i].size());
      const std::string properties = propertiesOf(rank);
      split_ += (i > 0 ? ", " : "") + properties;
      isGood = done(TenonLayoutCreateSharded(grid_, rank, inputs_[i].data(), properties.c_str(),
                                             layouts[i].out()));
      handles.push_back(layouts[i]);
    }
    if (isGood)
      code = TenonLayerSetUpMany(net_, static_cast<int>(handles.size()), handles.data());
    return code;
  }

  std::string file_, split_;
  std::vector<Shape> inputs_;
  Layer net_;
  Partition grid_;
};

// Sets the network up with the first of these splits that it supports. The first one divides inputs
// with dimensions of space along the first of these (S2), and others along the batch (S0); the last
// one divides nothing. While splits are tried, their errors are not printed. Only the error "not
// supported" can depend on the split; after any other, or if all splits have failed, the first
// split is set up again to print its error.
TenonErrorCode setUpSplit(Proof& proof) {
  static const std::vector<std::vector<int>> kSplits = {{2, 0}, {0}, {3, 0}, {1, 0}, {}};
  for (const std::vector<int>& dims : kSplits) {
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    const TenonErrorCode code = proof.setUp(dims);
    TenonPopErrorHandler();
    if (code == TENON_SUCCESS)
      return code;
    if (code != TENON_ERR_SUPPORT || worldSize() == 1)
      break;
  }
  return proof.setUp(kSplits[0]);
}

// Runs the network's test on all ranks. Returns the exit status; the library prints errors itself.
int prove(const Request& request, const std::vector<Shape>& inputs) {
  MPI_Init(nullptr, nullptr);
  TenonErrorCode code = TenonInitialize(nullptr, nullptr, nullptr);
  if (code == TENON_SUCCESS) {
    Proof proof(request, inputs);
    code = request.split.empty() ? setUpSplit(proof) : proof.setUpBlocks(request.split);
    if (code == TENON_SUCCESS)
      code = proof.run();
    const int ranks = worldSize();
    if (code == TENON_SUCCESS && worldRank() == 0)
      std::printf("%s gives its own results on %s%s\n", request.file.c_str(),
                  counted(ranks, "rank").c_str(),
                  ranks > 1 ? (", with inputs split as " + proof.split()).c_str() : "");
  }
  TenonFinalize();
  MPI_Finalize();
  return code == TENON_SUCCESS ? 0 : kExitFailed;
}

} // namespace

int runImport(int argc, char** argv) {
  if (argc == 3 && asksHelp(argv[2])) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  try {
    const Request request = requestOf(argc, argv);
    const auto file = openModel(request.file);
    const ModelProgram program = readModelProgram(*file);
    const std::vector<Shape> inputs = extentsOfRun(program, request.extents);
    if (request.proves)
      return prove(request, inputs);
    std::fputs(reportModel(request.file, program, *file, inputs, request.processes).c_str(),
               stdout);
    if (!request.writes.empty())
      writeNetwork(request.writes, program, *file, inputs);
    return 0;
  } catch (const Error& error) {
    // In the format of the library's own errors (handles.hpp).
    printError(fmt::format("tenon import: {}: {}\n", errorName(error.code()), error.text()));
    return kExitFailed;
  } catch (const std::exception& error) {
    printError(fmt::format("tenon import: {}\n", error.what()));
    return kExitUsage;
  }
}

} // namespace tenon::tools
