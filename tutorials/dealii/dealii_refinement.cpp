// SPDX-License-Identifier: BSD-2-Clause
// Message passing on a distributed mesh of deal.II that is refined while the network learns.
//
//   mpiexec -n 4 build/tutorials/dealii/dealii_refinement
//
// You learn how to
//   - make an index map and edges of the active cells, hanging faces included,
//   - use a vector of deal.II as a tensor, without a copy,
//   - set up a network for the lists of a changed mesh, with its weights and Adam's momenta.
//
// A front moves over a square. From the values u of cells the network learns how much u changes
// over a cell, and its answer decides which cells are refined. The mesh is then another, whose
// cells are distributed anew, and training goes on. Nothing is made coarser: deal.II decides that
// rank by rank. What is printed is the same on any number of ranks.
#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/la_parallel_vector.h>

#include <tenon.hpp>
#include <tenon/hosts/dealii.hpp>

#include <cmath>
#include <cstdio>

namespace {

using Mesh = dealii::parallel::distributed::Triangulation<2>;
using Cell = Mesh::active_cell_iterator;
using Field = dealii::LinearAlgebra::distributed::Vector<double>;

constexpr const char* kFile = "dealii_refinement.h5";

// A number that a cell has on any ranks: its way down from the coarse cell, of which there is one.
TenonInt numberOf(const Cell& cell) {
  const dealii::CellId id = cell->id();
  TenonInt number = 1;
  for (const auto child : id.get_child_indices())
    number = 4 * number + child;
  return number;
}

// What Tenon needs of a mesh. A changed mesh needs new lists.
struct Lists {
  explicit Lists(const Mesh& mesh)
      : partitioner(mesh.global_active_cell_index_partitioner().lock()) {
    std::vector<TenonInt> numbers(partitioner->locally_owned_size() +
                                  partitioner->n_ghost_indices());
    for (const Cell& cell : mesh.active_cell_iterators())
      if (!cell->is_artificial())
        numbers[local(cell)] = numberOf(cell);
    cells = tenon::mapOfPartitioner(*partitioner, numbers);
    for (const Cell& cell : mesh.active_cell_iterators())
      if (cell->is_locally_owned())
        for (const unsigned face : cell->face_indices())
          if (!cell->at_boundary(face))
            addNeighbours(cell, face);
    edges = tenon::Edges(cells, cells, target, source, key);
    rows = cells.layouts({0, 1}).domain;
    offsets = tenon::DTensor(edges.layout({0, 3}), TENON_FLOAT64);
    const auto values = offsets.array<double>();
    std::copy(offset.begin(), offset.end(), values.begin());
  }

  unsigned local(const Cell& cell) const {
    return partitioner->global_to_local(cell->global_active_cell_index());
  }

  std::shared_ptr<const dealii::Utilities::MPI::Partitioner> partitioner;
  tenon::IndexMap cells;
  tenon::Edges edges;
  tenon::Layout rows;
  tenon::DTensor
      offsets; // of each edge: the way to the source and its size, in sizes of the target

private:
  // One neighbour, or several behind a face that is refined.
  void addNeighbours(const Cell& cell, unsigned face) {
    if (!cell->neighbor(face)->has_children())
      return add(cell, cell->neighbor(face), 4 * face);
    for (unsigned part = 0; part < cell->face(face)->n_children(); ++part)
      add(cell, cell->neighbor_child_on_subface(face, part), 4 * face + part);
  }
  void add(const Cell& to, const Cell& from, unsigned where) {
    target.push_back(local(to));
    source.push_back(local(from));
    key.push_back(16 * numberOf(to) + where);
    const double size = to->extent_in_direction(0);
    const auto way = (from->center() - to->center()) / size;
    offset.insert(offset.end(), {way[0], way[1], from->extent_in_direction(0) / size});
  }

  std::vector<TenonInt> target, source, key;
  std::vector<double> offset;
};

// The network and Adam, for one mesh.
struct Learner {
  explicit Learner(const Lists& lists)
      : network(tenon::Layer::columnMLP(MPI_COMM_WORLD, {5, 16, 8}, "tanh")
                    .messagePassing(tenon::Layer::columnMLP(MPI_COMM_WORLD, {9, 16, 1}, "tanh"), 2,
                                    "sum")),
        error(MPI_COMM_WORLD, "meansquarederror"), file(MPI_COMM_WORLD) {
    network.set("data_type", "float64").setEdges("", lists.edges);
    network.setUpMany({lists.rows, lists.edges.layout({0, 3})});
    network.initialize(1);
    u = tenon::DTensor(lists.rows, TENON_FLOAT64);
    wanted = tenon::DTensor(lists.rows, TENON_FLOAT64);
    found = network.createOutput();
    error.set("data_type", "float64").setUp(network.outputLayout());
    loss = error.createOutput();
    one = error.createOutputCotangent();
    one.fill(1);
    cotangent = error.createInputCotangent();
    adam = tenon::Optimizer(network, "adam");
    adam.setLearningRate(0.01);
    file.addLayer(network, "network");
    file.addOptimizer(adam, "adam");
  }

  void predict(const Lists& lists, const Field& values, Field& answer) {
    const auto input = tenon::placeOwned(u, values), output = tenon::placeOwned(found, answer);
    network.applyMany({u, lists.offsets}, {found});
  }

  double train(const Lists& lists, const Field& values, const Field& truth) {
    const auto input = tenon::placeOwned(u, values), target = tenon::placeOwned(wanted, truth);
    network.applyMany({u, lists.offsets}, {found});
    error.setTarget(wanted);
    error.apply(found, loss);
    error.applyAdjoint(one, cotangent);
    network.applyAdjointMany({cotangent}, {nullptr, nullptr});
    adam.step();
    return loss.pairing(one);
  }

  tenon::Layer network, error;
  tenon::Optimizer adam;
  tenon::Checkpoint file;
  tenon::DTensor u, wanted, found, loss, one, cotangent;
};

// u at the centres of cells, and its change over a cell, for a front this far from a corner.
void evaluate(const Mesh& mesh, const Lists& lists, double front, Field& u, Field& change) {
  for (const Cell& cell : mesh.active_cell_iterators())
    if (cell->is_locally_owned()) {
      const double wave = std::tanh(12 * (cell->center().norm() - front));
      u.local_element(lists.local(cell)) = wave;
      change.local_element(lists.local(cell)) =
          12 * (1 - wave * wave) * cell->extent_in_direction(0);
    }
}

void adapt(Mesh& mesh, const Lists& lists, Field& change) {
  for (const Cell& cell : mesh.active_cell_iterators())
    if (cell->is_locally_owned() && change.local_element(lists.local(cell)) > 0.3 &&
        cell->level() < 6)
      cell->set_refine_flag();
  mesh.execute_coarsening_and_refinement();
}

void run(bool isFirst) {
  Mesh mesh(MPI_COMM_WORLD);
  dealii::GridGenerator::hyper_cube(mesh);
  mesh.refine_global(4);
  for (int cycle = 0; cycle < 6; ++cycle) {
    const Lists lists(mesh);
    Learner learner(lists);
    if (cycle > 0)
      learner.file.read(kFile);
    Field u(lists.partitioner), change(lists.partitioner), predicted(lists.partitioner);
    evaluate(mesh, lists, 0.4 + 0.1 * cycle, u, change);
    const double before = learner.train(lists, u, change);
    double after = before;
    for (int step = 0; step < 60; ++step)
      after = learner.train(lists, u, change);
    if (isFirst)
      std::printf("%d: %4d cells, loss %.2e, after 60 steps of Adam %.2e\n", cycle,
                  int(mesh.n_global_active_cells()), before, after);
    learner.file.write(kFile);
    learner.predict(lists, u, predicted);
    adapt(mesh, lists, predicted);
  }
}

} // namespace

int main(int argc, char** argv) {
  const dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const tenon::Session session(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  run(rank == 0);
}
