// SPDX-License-Identifier: BSD-2-Clause
#include "tenonClosure.H"
#include "OSspecific.H"
#include "Time.H"

namespace Foam
{

tenonClosure::tenonClosure(const fvMesh& mesh, const dictionary& dict)
:
    mesh_(mesh),
    dict_(dict),
    timeRef_(dict.get<scalar>("timeRef")),
    nuRef_(dict.get<scalar>("nuRef")),
    version_(0)
{
    tenonCalls(FUNCTION_NAME, [&] { setUp(); network_.initialize(1); });
}

tenon::Layer tenonClosure::createNetwork() const
{
    const MPI_Comm comm = tenonMesh::comm();
    const word network(dict_.get<word>("network"));
    const word activation(dict_.lookupOrDefault<word>("activation", "tanh"));
    const bool neighbours = network == "messagePassing";
    const labelList widths
    (
        dict_.lookupOrDefault("widths", neighbours ? labelList({16, 8}) : labelList({16, 16}))
    );
    const TenonInt components = tensor::nComponents;

    tenon::Layer graph = tenon::Layer::graph(comm);
    graph.set("input_count", neighbours ? 2 : 1).set("data_type", "float64");
    tenon::Layer scale(comm, "scale");
    const int input = graph.addNode(scale.set("factor", timeRef_), {-1});
    int last = 0;
    if (neighbours)
    {
        const label messages = widths.last();
        std::vector<TenonInt> ofEdge{2*components + 4}, ofCell{components + messages};
        for (label i = 0; i + 1 < widths.size(); ++i)
        {
            ofEdge.push_back(widths[i]);
            ofCell.push_back(widths[i]);
        }
        ofEdge.push_back(messages);
        ofCell.push_back(1);
        const tenon::Layer edge = tenon::Layer::columnMLP(comm, ofEdge, activation);
        const tenon::Layer cell = tenon::Layer::columnMLP(comm, ofCell, activation);
        last = graph.addNode(edge.messagePassing(cell, 2, "sum"), {input, -2});
        graph.setEdges("", tenonMesh::New(mesh_).edges());
    }
    else if (network == "pointwise")
    {
        std::vector<TenonInt> all{components};
        all.insert(all.end(), widths.begin(), widths.end());
        all.push_back(1);
        last = graph.addNode(tenon::Layer::columnMLP(comm, all, activation), {input});
    }
    else if (network == "model")
    {
        const fileName path(dict_.get<fileName>("model").expand());
        last = graph.addNode(tenon::Layer::fromModel(comm, path), {input});
    }
    else
    {
        FatalIOErrorInFunction(dict_)
            << "network is " << network
            << "; expected messagePassing, pointwise or model" << exit(FatalIOError);
    }
    graph.addNode(tenon::Layer(comm, "softplus"), {last});
    return graph;
}

void tenonClosure::setUp()
{
    const tenonMesh& lists = tenonMesh::New(mesh_);
    const tenon::Layout rows = lists.cells().layouts({0, tensor::nComponents}).domain;
    network_ = createNetwork();
    network_.setFromOptions();
    if (network_.inputCount() == 2)
    {
        network_.setUpMany({rows, lists.edges().layout({0, 4})});
    }
    else
    {
        network_.setUp(rows);
    }
    gradU_ = tenon::DTensor(rows, TENON_FLOAT64);
    nut_ = network_.createOutput();
    error_ = tenon::Layer(tenonMesh::comm(), "meansquarederror");
    error_.set("data_type", "float64").setUp(network_.outputLayout());
    loss_ = error_.createOutput();
    one_ = error_.createOutputCotangent();
    one_.fill(1);
    cotangent_ = error_.createInputCotangent();
    adam_ = tenon::Optimizer(network_, "adam");
    adam_.setLearningRate(dict_.lookupOrDefault<scalar>("rate", 1e-3)).setFromOptions();

    const tenon::IndexMap sorted = lists.cells().sorted();
    const auto layouts = sorted.layouts({0, 1});
    sort_ = tenon::LinearOp::indexMap(sorted, layouts.domain, TENON_FLOAT64);
    plain_ = tenon::DTensor(layouts.domain, TENON_FLOAT64);
    plainDual_ = tenon::DTensor(layouts.domain.dual(), TENON_FLOAT64);
    target_ = tenon::DTensor(layouts.domain, TENON_FLOAT64);
    byId_ = tenon::DTensor(layouts.range, TENON_FLOAT64);
    version_ = lists.version();
}

// Where the mesh has changed, the lists and all layouts are others: network
// and Adam are set up again, with the same weights and momenta.
void tenonClosure::follow()
{
    if (tenonMesh::New(mesh_).version() == version_)
    {
        return;
    }
    const fileName path(mesh_.time().globalPath()/"tenonClosure.changedMesh.h5");
    const auto saved = [&]
    {
        tenon::Checkpoint file(tenonMesh::comm());
        file.addLayer(network_, "network");
        file.addOptimizer(adam_, "adam");
        return file;
    };
    saved().write(path);
    setUp();
    saved().read(path);
    if (Pstream::master())
    {
        Foam::rm(path);
    }
}

void tenonClosure::apply(const tensorField& gradU, scalarField& nut, const bool trains)
{
    const auto input = gradU_.place(gradU);
    const auto output = nut_.place(nut);
    network_.setTraining(trains).setRecording(trains);
    if (network_.inputCount() == 2)
    {
        network_.applyMany({gradU_, tenonMesh::New(mesh_).features()}, {nut_});
    }
    else
    {
        network_.apply(gradU_, nut_);
    }
}

void tenonClosure::predict(const tensorField& gradU, scalarField& nut)
{
    tenonCalls
    (
        FUNCTION_NAME,
        [&]
        {
            follow();
            apply(gradU, nut, false);
        }
    );
    nut *= nuRef_;
}

scalar tenonClosure::train(const tensorField& gradU, const scalarField& nut)
{
    return tenonCalls
    (
        FUNCTION_NAME,
        [&]
        {
            follow();
            const scalarField wanted(nut/nuRef_);
            scalarField found(nut.size());
            apply(gradU, found, true);
            const auto output = nut_.place(found);
            const auto target = target_.place(wanted);
            error_.setTarget(target_);
            error_.apply(nut_, loss_);
            error_.applyAdjoint(one_, cotangent_);
            if (network_.inputCount() == 2)
            {
                network_.applyAdjointMany({cotangent_}, {nullptr, nullptr});
            }
            else
            {
                network_.applyAdjoint(cotangent_);
            }
            adam_.step();
            return loss_.pairing(one_);
        }
    );
}

tenon::Checkpoint tenonClosure::checkpoint()
{
    follow();
    tenon::Checkpoint file(tenonMesh::comm());
    file.addLayer(network_, "network");
    file.addOptimizer(adam_, "adam");
    file.addTensor(byId_, "nut");
    return file;
}

void tenonClosure::write(const fileName& path, const scalarField& nut)
{
    tenonCalls
    (
        FUNCTION_NAME,
        [&]
        {
            tenon::Checkpoint file = checkpoint();
            const auto field = plain_.place(nut);
            sort_.apply(plain_, byId_);
            file.write(path);
        }
    );
}

void tenonClosure::read(const fileName& path, scalarField& nut)
{
    tenonCalls
    (
        FUNCTION_NAME,
        [&]
        {
            checkpoint().read(path);
            const auto field = plainDual_.place(nut);
            sort_.applyAdjoint(byId_, plainDual_);
        }
    );
}

void tenonClosure::readNetwork(const fileName& path)
{
    tenonCalls
    (
        FUNCTION_NAME,
        [&]
        {
            tenon::Checkpoint file(tenonMesh::comm());
            file.addLayer(network_, "network");
            file.read(path);
        }
    );
}

}
