// SPDX-License-Identifier: BSD-2-Clause
// A NetCDF file that is written by one process: its dimensions, its coordinates, and variables with
// the components of tensors. cf_fields.hpp says what is in the file of a time; a file of weights
// (ann/ann_weights.hpp) has coordinates alone.
#pragma once

#include "io/data_access.hpp"
#include "sys/data_type.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// An attribute: a text, or a number.
struct CfAttribute {
  std::string name, text;
  std::optional<int> number = {};
};

// A variable, with its values if it is a coordinate.
struct CfVariable {
  std::string name;
  std::vector<std::string> dimensions;
  TenonDataType type = TENON_FLOAT64;
  std::vector<CfAttribute> attributes;
  std::vector<double> values = {}; // of a coordinate; they are written when the file is opened
  bool storesInt32 = false;        // integers are stored so, for programs that read no longer ones
  std::optional<int> fill = {};    // of integers: a number that means none
};

// A tensor as variables, one for each component in row-major order. The component dimensions are
// its first or its last ones; the others are the last dimensions of each variable. Dimensions of a
// variable before these, such as time, have the index 0.
struct CfTensor {
  std::vector<CfVariable> variables;
  Shape components; // extents of the component dimensions
  bool areComponentsFirst = true;
};

// The structure of a file, which is written when the file is opened.
struct CfContents {
  std::vector<std::pair<std::string, Index>> dimensions; // an unlimited one has the length 0
  std::vector<CfAttribute> attributes;
  std::vector<CfVariable> coordinates;
  std::vector<CfTensor> tensors;
};

// The contents must exist as long as the file. Throws TENON_ERR_SUPPORT in a build without NetCDF.
std::unique_ptr<DataAccess> makeCfFile(const std::string& path, const CfContents& contents);
// Throws TENON_ERR_SUPPORT in a build without NetCDF; `what` needs it.
void requireNetcdf(const char* what);

} // namespace tenon
