// SPDX-License-Identifier: BSD-2-Clause
// Reads which parameters the model of an ONNX file has (parameter_names.hpp). The exporter writes
// this as metadata of values, as a text with the signature of the graph, and as the scopes of each
// node. A file without metadata has tensors only, and each is a parameter of its own name.
#include "import/onnx/parameter_names.hpp"

#include "import/onnx/onnx.hpp"
#include "import/onnx/tensor_message.hpp"
#include "sys/text/text.hpp"

#include <string_view>

namespace tenon {

using namespace onnx; // numbers of fields

void OnnxParameterNames::noteRole(WireMessage value) {
  std::string name, kind;
  while (value.next())
    if (value.number() == kValueName)
      name = value.text();
    else if (value.number() == kValueMetadata)
      if (const auto [key, text] = onnxPair(value.message()); key.ends_with("InputSpec.kind"))
        kind = text;
  if (kind == "PARAMETER" || kind == "BUFFER")
    roles_[name] = kind == "BUFFER" ? ModelTensor::Role::Buffer : ModelTensor::Role::Parameter;
}

void OnnxParameterNames::noteTargets(const std::string& signature) {
  constexpr std::string_view kKey = "target='";
  for (std::size_t at = signature.find(kKey); at != signature.npos;) {
    const std::size_t begin = at + kKey.size(), end = signature.find('\'', begin);
    targets_.insert(signature.substr(begin, end - begin));
    at = end == signature.npos ? end : signature.find(kKey, end);
  }
}

std::optional<ModelTensor::Role> OnnxParameterNames::roleOf(const std::string& tensor) const {
  const auto role = roles_.find(tensor);
  return role == roles_.end() ? std::nullopt : std::optional(role->second);
}

std::optional<std::string> OnnxParameterNames::aliasIn(const std::string& module,
                                                       const std::string& tensor) const {
  const std::string lastName = tensor.substr(tensor.rfind('.') + 1);
  std::string alias = module.empty() ? lastName : module + "." + lastName;
  const auto role = roles_.find(tensor);
  if (alias == tensor || role == roles_.end() || role->second != ModelTensor::Role::Parameter ||
      roles_.contains(alias) || !targets_.contains(alias))
    return std::nullopt;
  return alias;
}

std::optional<std::string> moduleIn(const std::string& scopes) {
  const std::vector<std::string> words = split(scopes, '\'');
  constexpr std::size_t kAfter = 4; // words after the module: "', '", the operator, and "']"
  return words.size() > kAfter ? std::optional(words[words.size() - kAfter]) : std::nullopt;
}

} // namespace tenon
