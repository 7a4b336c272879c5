// SPDX-License-Identifier: BSD-2-Clause
// `tenon import FILE`: reads a trained network (.pt2 of torch.export.save(), or ONNX) and prints
// the layers of this library that it becomes, or everything that cannot be imported. With -o it
// also writes them as a network file and its weights. This is done by one process without MPI. With
// -prove it instead runs the network on all ranks of the job, on the input that the file contains
// for tests, and compares the output with the file's (TenonLayerTestModel()).
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
    "usage: tenon import FILE [-extents x=1,2,64,64] [-processes N] [-o NAME] [-prove]\n\n"
    "Prints the layers that a trained network becomes (.pt2 of torch.export.save(), or ONNX), what "
    "they\n"
    "cost on a number of processes and how far an output sees; or all that cannot be imported.\n\n"
    "  -extents NAME=N,N,...  shape of an input; may be repeated\n"
    "  -processes N           number of processes of a job (default 1)\n"
    "  -o NAME                also write NAME.json and NAME.safetensors, a network file and its "
    "weights\n"
    "  -prove                 run the test that the file holds, on all ranks: mpiexec -n 4 tenon "
    "import FILE -prove\n";

// The arguments of the command.
struct Request {
  std::string file, writes; // the model; the name for -o, or ""
  std::vector<std::pair<std::string, Shape>> extents;
  Index processes = 1;
  bool proves = false;
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
    else if (isOption(argv[i]) || !request.file.empty())
      throw std::runtime_error(fmt::format("unknown argument '{}'; see tenon import -help", word));
    else
      request.file = word;
  }
  if (request.file.empty())
    throw std::runtime_error("the path of a model is missing; see tenon import -help");
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

// Runs the network's test on all ranks: inputs with dimensions of space are split in the first of
// them (S2), others in the batch (S0). Returns the exit status; the library prints errors itself.
int prove(const Request& request, const std::vector<Shape>& inputs) {
  MPI_Init(nullptr, nullptr);
  TenonErrorCode code = TenonInitialize(nullptr, nullptr, nullptr);
  const bool isFirst = worldRank() == 0;
  if (code == TENON_SUCCESS) {
    Layer net;
    Partition grid;
    const int ranks = worldSize();
    const auto done = [&](TenonErrorCode result) {
      code = result;
      return result == TENON_SUCCESS;
    };
    std::vector<Layout> layouts(inputs.size());
    bool isGood =
        done(TenonLayerCreateFromModel(MPI_COMM_WORLD, request.file.c_str(), net.out())) &&
        done(TenonObjectSetText(net.object(), "model_test", "off")) &&
        done(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, grid.out()));
    std::vector<TenonLayout> handles;
    for (std::size_t i = 0; isGood && i < inputs.size(); ++i) {
      isGood =
          done(TenonLayoutCreateSharded(grid, static_cast<int>(inputs[i].size()), inputs[i].data(),
                                        inputs[i].size() > 2 ? "S2" : "S0", layouts[i].out()));
      handles.push_back(layouts[i]);
    }
    isGood = isGood &&
             done(TenonLayerSetUpMany(net, static_cast<int>(handles.size()), handles.data())) &&
             done(TenonLayerTestModel(net));
    if (isGood && isFirst)
      std::printf("%s gives its own results on %s\n", request.file.c_str(),
                  counted(ranks, "rank").c_str());
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
    const auto file = openBytes(request.file, "model file");
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
