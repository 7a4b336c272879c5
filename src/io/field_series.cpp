// SPDX-License-Identifier: BSD-2-Clause
// Class FieldSeries: fields over time for ParaView. write(step, time) makes two files (three on the
// first call if there is a mesh; names are those of the header's example):
//   heat-000120.h5        all ranks write it collectively, as an ordinary checkpoint: the fields,
//                         the step, the time, and the grid
//   heat.xmf              rank 0 rewrites it: the list of all times, generated from the .h5 files
//   heat-000000-mesh.h5   only at the first time of a run: the mesh
// Since the list is generated from the files, a continued run also lists the times of the run
// before it, and the list of an interrupted run matches its files.
//
// A field on a mesh is a tensor [rows, components...] whose rows are the cells or nodes in the
// order of the user's partition. Before each write it is redistributed to a second tensor, in the
// order of ids.
#include "io/field_series.hpp"

#include "comm/agreement/agreement.hpp"
#include "io/cf/cf_file.hpp"
#include "io/checkpoint_files.hpp"
#include "io/hdf5_file.hpp"
#include "sys/files/part_file.hpp"
#include "sys/log/log.hpp"
#include "sys/text/output.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// Digits of the step in a file's name, with leading zeros. With six, ParaView and shells sort the
// names of up to a million steps correctly.
constexpr int kFieldDigits = 6;

constexpr OptionSpec kFieldOptions[] = {
    {"field_center", OptionSpec::Choice, "cell",
     "where the values of fields for ParaView are: cell = in the cells of the grid, node = at its "
     "points",
     "cell|node"},
    {"field_format", OptionSpec::Choice, "xdmf",
     "the files of fields: xdmf = HDF5 for ParaView, netcdf = NetCDF by the conventions CF and "
     "UGRID",
     "xdmf|netcdf"},
    {"field_time_units", OptionSpec::String, "1",
     "units of the time in NetCDF files, such as days since 1850-01-01"},
    {"field_calendar", OptionSpec::String, "standard",
     "calendar of such a time in NetCDF files, such as noleap or 360_day"},
    {"field_length_units", OptionSpec::String, "1", "units of the coordinates in NetCDF files"},
};
const OptionRegistration kFieldRegistration{{"fields", kFieldOptions}};

std::string shapeText(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

} // namespace

FieldSeries::FieldSeries(CommPtr comm, const std::string& path, int space)
    : SettableObject(kClass), comm_(std::move(comm)), path_(path),
      name_(path.substr(path.rfind('/') + 1)),
      settings_({kFieldOptions, Checkpoint::transportOption()}) {
  if (space != 2 && space != 3)
    throw Error(TENON_ERR_ARG,
                fmt::format("the grid has {} dimensions; a series of fields needs 2 or 3", space));
  if (name_.empty())
    throw Error(TENON_ERR_ARG,
                fmt::format("path '{}' names no file; pass one such as \"run1/heat\"", path));
  checkPlain("the name of a series' files", name_); // it becomes part of the .xmf file
  // step-100000.h5 would also be the name of a checkpoint.
  if (name_ == "step")
    throw Error(TENON_ERR_ARG,
                fmt::format("path '{}' names the files of the series as checkpoints of steps are "
                            "named, which would replace them; pass another name than \"step\"",
                            path));
  grid_.origin.assign(static_cast<std::size_t>(space), 0);
  grid_.spacing.assign(static_cast<std::size_t>(space), 1);
  files_ = makeRef<Checkpoint>(comm_);
  applySettings(settings_, {});
}

void FieldSeries::applySettings(Settings after, const Settings::Names&) {
  files_->set("checkpoint_transport", after.get("checkpoint_transport", owner()));
  if (after.value<std::string>("field_format", owner()) == "netcdf") {
    requireNetcdf("fields in the format netcdf");
    if (after.value<std::string>("checkpoint_transport", owner()) == "together")
      throw Error(
          TENON_ERR_ARG,
          fmt::format("the settings field_format netcdf and checkpoint_transport together of "
                      "{} exclude each other: rank 0 writes NetCDF files; use "
                      "checkpoint_transport auto or root",
                      title()));
  }
  grid_.isCellCentered = after.value<std::string>("field_center", owner()) == "cell";
  settings_ = std::move(after);
}

void FieldSeries::setGrid(const std::vector<double>& origin, const std::vector<double>& spacing) {
  if (origin.size() != grid_.origin.size())
    throw Error(TENON_ERR_ARG, fmt::format("spatial is {}, but the grid of {} has {} dimensions",
                                           origin.size(), title(), grid_.dimensions()));
  for (const double number : origin)
    if (!std::isfinite(number))
      throw Error(TENON_ERR_ARG,
                  fmt::format("origin has the coordinate {}; pass finite ones", number));
  for (const double number : spacing)
    if (!std::isfinite(number) || number <= 0)
      throw Error(TENON_ERR_ARG, fmt::format("spacing has the value {}; it must be > 0", number));
  grid_.origin = origin;
  grid_.spacing = spacing;
}

void FieldSeries::setMesh(const ListedMesh& mesh) {
  collectively(*comm_, [&] {
    if (!fields_.empty() || mesh_)
      throw Error(TENON_ERR_STATE, fmt::format("{} has {}; call TenonFieldSeriesSetMesh() once, "
                                               "before fields are added",
                                               title(), mesh_ ? "a mesh already" : "fields"));
    return true;
  });
  mesh_ = std::make_unique<const FieldMesh>(comm_, mesh, grid_.dimensions());
}

// Writes the file of the mesh. Called once per run, because the mesh does not change. The name
// contains the first step of the run, because a continued run can have another mesh. Collective.
void FieldSeries::writeMesh(Index step) {
  const std::string suffix = fmt::format("-{:0{}}-mesh.h5", step, kFieldDigits);
  const auto file = makeRef<Checkpoint>(comm_);
  file->set("checkpoint_transport", settings_.get("checkpoint_transport", owner()));
  file->addTensor(mesh_->places(), kMeshPlaces);
  file->addTensor(mesh_->corners(), kMeshCorners);
  file->setValue(kMeshShape, std::string(mesh_->shape().name));
  file->write(path_ + suffix);
  files_->setValue(kMeshFile, name_ + suffix);
}

std::string FieldSeries::textOf(Index step) const {
  const NamedFile fields{fileName(step), readStructure(stepPath(step))};
  const std::optional<std::string> mesh = meshFileOf(fields);
  if (!mesh)
    return xdmfOfFile(fields);
  // The file of the mesh is in the same folder, and is named without it.
  const NamedFile meshFile{*mesh, readStructure(folderOf(path_) + "/" + *mesh)};
  return xdmfOfFile(fields, &meshFile);
}

// `shape` has the dimensions of a field that are components.
void FieldSeries::checkComponents(const DTensor& tensor, const Shape& shape,
                                  const std::string& components, const std::string& name) const {
  const Index count = elements(shape);
  const auto names = componentNames(name, components, count);
  if (static_cast<Index>(names.size()) != count)
    throw Error(TENON_ERR_ARG, fmt::format("components '{}' has {}, but {} has {}", components,
                                           counted(static_cast<Index>(names.size()), "name"),
                                           tensor.title(), counted(count, "component")));
}

// Adds a field on the mesh: the tensor `rows`, to which write() sorts the user's tensor by ids, is
// part of the file.
void FieldSeries::addRows(Ref<DTensor> tensor, const std::string& name,
                          const std::string& components) {
  const FieldMesh::Rows meshRows = mesh_->rowsOf(*tensor, grid_.isCellCentered);
  const Shape& shape = tensor->layout().shape();
  checkComponents(*tensor, {shape.begin() + 1, shape.end()}, components, name);
  auto sort = std::make_unique<IndexMapOp>(comm_, meshRows.order, tensor->layout(),
                                           tensor->dataType(), CarrierPolicy::fromOptions());
  auto rows = makeRef<DTensor>(comm_, sort->range(), tensor->dataType(), tensor->space());
  files_->addTensor(rows, name);
  cfFields_.push_back(
      {.tensor = rows, .name = name, .components = components, .areNodes = meshRows.areNodes});
  if (!components.empty())
    files_->setValue(componentsKey(name), components);
  files_->setValue(centerKey(name), std::string(meshRows.areNodes ? "node" : "cell"));
  fields_.push_back(
      fmt::format("{} {} of {}", name, shapeText(shape), meshRows.areNodes ? "nodes" : "cells"));
  sorted_.push_back(
      {.given = std::move(tensor), .sorted = std::move(rows), .sort = std::move(sort)});
}

void FieldSeries::addTensor(Ref<DTensor> tensor, const std::string& name,
                            const std::string& components) {
  // The .xmf file must contain the name exactly, and XML cannot represent control characters.
  checkPlain("the name of a field", name);
  checkPlain("the list of a field's components", components);
  if (mesh_)
    return addRows(std::move(tensor), name, components);
  const Shape& shape = tensor->layout().shape();
  const auto space = static_cast<std::ptrdiff_t>(grid_.dimensions());
  if (static_cast<std::ptrdiff_t>(shape.size()) < space)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has shape {}; a field on a grid of {} dimensions needs at least so "
                            "many",
                            tensor->title(), shapeText(shape), space));
  // Spatial dimensions are last in a tensor; dimensions before them are components.
  const Shape extents(shape.end() - space, shape.end());
  if (!fields_.empty() && extents != space_)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("{} has {} values on the grid, but the fields of {} have {}; use another "
                    "series for another grid",
                    tensor->title(), shapeText(extents), title(), shapeText(space_)));
  checkComponents(*tensor, {shape.begin(), shape.end() - space}, components, name);
  files_->addTensor(tensor, name);
  cfFields_.push_back({.tensor = std::move(tensor), .name = name, .components = components});
  if (!components.empty())
    files_->setValue(componentsKey(name), components);
  space_ = extents;
  fields_.push_back(fmt::format("{} {}", name, shapeText(shape)));
}

std::string FieldSeries::stepPath(Index step) const {
  return path_ + fileName(step).substr(name_.size());
}

std::string FieldSeries::fileName(Index step) const {
  return fmt::format("{}-{:0{}}.{}", name_, step, kFieldDigits, isNetcdf() ? "nc" : "h5");
}

void FieldSeries::checkWrite(Index step, double time) const {
  if (fields_.empty())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has no field; call TenonFieldSeriesAddTensor() first", title()));
  if (step < 0)
    throw Error(TENON_ERR_ARG, fmt::format("step is {}; it must be >= 0", step));
  // An earlier step would overwrite a file that is already in the list of this run.
  if (lastStep_ && step <= *lastStep_)
    throw Error(TENON_ERR_ARG,
                fmt::format("step is {}, but step {} is written already; steps must grow", step,
                            *lastStep_));
  if (!std::isfinite(time))
    throw Error(TENON_ERR_ARG, fmt::format("time is {}; it must be finite", time));
}

// Adds the times before `step` that an earlier run has written to times_, and removes temporary
// files of killed writers. A file that cannot be read is omitted with a warning. On rank 0 only.
void FieldSeries::findEarlier(Index step) {
  const std::string folder = folderOf(path_);
  if (const auto writer = removeNumberedParts(folder, name_ + "-", kFieldDigits))
    printError(sharedFolderText(stepPath(step), *writer));
  for (const Index earlier : numberedFiles(folder, name_ + "-", kFieldDigits)) {
    // A run that continues from an earlier step writes later steps again.
    if (earlier >= step)
      continue;
    try {
      times_[earlier] = textOf(earlier);
    } catch (const Error& error) {
      printError(fmt::format("Tenon: warning: {}; '{}.xmf' leaves it out\n", error.text(), path_));
    }
  }
}

// Writes the .xmf file after the file of this step. On rank 0 only.
void FieldSeries::writeList(Index step) {
  if (!hasList_)
    findEarlier(step);
  times_[step] = textOf(step);
  std::vector<std::string> texts;
  for (const auto& [time, text] : times_)
    texts.push_back(text);
  // ParaView can read the list at any time, so it is replaced atomically.
  NewFile file(path_ + ".xmf");
  file.write(xdmfOfSeries(name_, texts));
  file.commit();
}

void FieldSeries::write(Index step, double time) {
  static const int event = logEvent("FieldSeriesWrite");
  const LogScope scope(event);
  collectively(
      *comm_, "the time of the fields",
      [&] {
        checkSets();
        checkWrite(step, time);
        if (comm_->rank() == 0)
          makeFolder(folderOf(path_));
        return true;
      },
      [&](bool) { return fmt::format("step {}, time {}; {}", step, time, settings_.describe()); });
  // All ranks now agree on step, time and settings, and the collective work begins.
  for (const SortedField& field : sorted_)
    field.sort->apply(*field.given, *field.sorted);
  if (isNetcdf())
    writeCfFile(comm_, stepPath(step),
                {.grid = grid_,
                 .mesh = mesh_.get(),
                 .space = space_,
                 .fields = cfFields_,
                 .timeUnits = settings_.value<std::string>("field_time_units", owner()),
                 .calendar = settings_.value<std::string>("field_calendar", owner()),
                 .lengthUnits = settings_.value<std::string>("field_length_units", owner())},
                step, time);
  else
    writeHdf5(step, time);
  lastStep_ = step;
}

void FieldSeries::writeHdf5(Index step, double time) {
  if (mesh_ && !hasMeshFile_) {
    writeMesh(step);
    hasMeshFile_ = true;
  }
  StoredValues values;
  if (!mesh_)
    putGrid(values, grid_);
  for (const auto& [key, value] : values)
    files_->setValue(key, value);
  // Step and time are in the file, so a list can be generated from files only.
  files_->setValue("step", step);
  files_->setValue("time", time);
  files_->write(stepPath(step));
  std::optional<Error> failure;
  if (comm_->rank() == 0)
    try {
      writeList(step);
    } catch (...) {
      failure = caughtError();
    }
  // No time limit: rank 0 can take long on a slow file system, which does not mean that it is
  // absent.
  agreeWithoutLimit(*comm_, failure);
  hasList_ = true;
}

std::string FieldSeries::describe() const {
  std::string text =
      fmt::format("{}: '{}{}', {}\n", headingOf(*this), path_, isNetcdf() ? "-*.nc" : ".xmf",
                  counted(static_cast<Index>(fields_.size()), "field"));
  for (const std::string& field : fields_)
    text += fmt::format("  {}\n", field);
  if (mesh_)
    text += fmt::format("  mesh: {}\n", mesh_->describe());
  else
    text += fmt::format("  grid: values in {} at spacing {} from {} (order {}y, x)\n",
                        grid_.isCellCentered ? "cells" : "points", fmt::join(grid_.spacing, " "),
                        fmt::join(grid_.origin, " "), grid_.isFlat() ? "" : "z, ");
  if (lastStep_)
    text += fmt::format("  last file '{}'\n", stepPath(*lastStep_));
  return text;
}

} // namespace tenon
