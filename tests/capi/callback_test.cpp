// SPDX-License-Identifier: BSD-2-Clause
// Functions of the program (of shell layers, shell operators and optimizer closures) that destroy
// the very object which calls them, or call it again:
//
//   destroy       succeeds; the object exists until the outer call returns, then its context is
//                 freed
//   call again    TENON_ERR_STATE; the outer call is not affected and succeeds
//
// The functions multiply by 2, so the expected results are 2 (one layer) and 4 (two layers in a
// row).
#include "capi/expect_code.hpp"

#include <tenon/ext/layer.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace tenon::test {
namespace {

// The context of a layer or operator: `act` is set by the test and called by the functions below.
struct Context {
  std::function<void()> act;
  int freed = 0; // number of calls of freeContext()
};

// y = 2 x.
TenonErrorCode timesTwo(TenonDTensor x, TenonDTensor y) {
  return TenonDTensorAXPBY(2, x, 0, y);
}

TenonErrorCode applyLayer(TenonLayer, TenonDTensor x, TenonDTensor y, void* context) {
  static_cast<Context*>(context)->act();
  return timesTwo(x, y);
}
TenonErrorCode applyLayerAdjoint(TenonLayer, TenonDTensor, TenonDTensor, TenonDTensor dy,
                                 TenonDTensor dx, void* context) {
  static_cast<Context*>(context)->act();
  return timesTwo(dy, dx);
}
TenonErrorCode setUpLayer(TenonLayer, TenonLayout input, TenonLayout* output, void* context) {
  static_cast<Context*>(context)->act();
  const TenonErrorCode code = TenonObjectRetain(objectOf(input)); // for the output
  *output = input;
  return code;
}
TenonErrorCode applyOperator(TenonDTensor x, TenonDTensor y, void* context) {
  static_cast<Context*>(context)->act();
  return timesTwo(x, y);
}
void freeContext(void* context) {
  ++static_cast<Context*>(context)->freed;
}

class Callbacks : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    TenonSetFatalErrorHandler(TenonReturnErrorHandler, nullptr);
    rows_ = layout({8, 3}, "S0");
    for (TenonDTensor* one : {&x_, &y_, &other_})
      *one = tensor(rows_, TENON_FLOAT64);
    expectSuccess(TenonDTensorFillConstant(x_, 1));
  }
  void TearDown() override {
    for (TenonDTensor* one : {&x_, &y_, &other_})
      expectSuccess(TenonDTensorDestroy(one));
    expectSuccess(TenonLayoutDestroy(&rows_));
    TenonSetFatalErrorHandler(nullptr, nullptr);
    CApi::TearDown();
  }

  TenonLayer shell(Context& context, bool hasSetUp) {
    TenonLayer created = nullptr;
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "shell", &created));
    const TenonLayerShellFunctions functions = {hasSetUp ? setUpLayer : nullptr, applyLayer,
                                                nullptr, applyLayerAdjoint};
    expectSuccess(TenonLayerSetDataType(created, TENON_FLOAT64));
    expectSuccess(TenonLayerShellSetFunctions(created, &functions));
    expectSuccess(TenonLayerShellSetContext(created, &context, freeContext));
    return created;
  }
  TenonLayer containerOf(TenonLayer layer) {
    TenonLayer created = nullptr;
    expectSuccess(TenonLayerCreateSequential(MPI_COMM_WORLD, &created));
    expectSuccess(TenonLayerSetDataType(created, TENON_FLOAT64));
    expectSuccess(TenonLayerSequentialAdd(created, layer));
    return created;
  }
  TenonLinearOp operatorOf(Context& context) {
    TenonLinearOp created = nullptr;
    expectSuccess(TenonLinearOpCreateShell(rows_, rows_, TENON_FLOAT64, TENON_FLOAT64,
                                           applyOperator, applyOperator, &context, freeContext,
                                           &created));
    return created;
  }
  static void expectMaximum(TenonDTensor x, double value) {
    double found = 0;
    expectSuccess(TenonDTensorMaxAbs(x, &found));
    EXPECT_EQ(found, value);
  }

  TenonLayout rows_ = nullptr;
  TenonDTensor x_ = nullptr, y_ = nullptr, other_ = nullptr;
};

// The layer, alone or in a container, is destroyed within its function of one of three calls, which
// are made in this order.
TEST_F(Callbacks, ALayerThatIsDestroyedInItsFunctionsLivesUntilTheyReturn) {
  enum { kSetUp, kApply, kApplyAdjoint };
  for (const bool inContainer : {false, true})
    for (const int call : {kSetUp, kApply, kApplyAdjoint}) {
      Context context{[] {}};
      TenonLayer layer = shell(context, /*hasSetUp=*/true),
                 all = inContainer ? containerOf(layer) : nullptr;
      TenonLayer& called = inContainer ? all : layer;
      const TenonLayer stale = called;
      const auto destroyAll = [&] {
        EXPECT_EQ(context.freed, 0);
        expectSuccess(TenonLayerDestroy(&layer));
        expectSuccess(TenonLayerDestroy(&all));
        EXPECT_EQ(context.freed, 0);
      };
      if (call == kSetUp)
        context.act = destroyAll;
      expectSuccess(TenonLayerSetUp(called, rows_));
      if (call == kApply)
        context.act = destroyAll;
      if (call > kSetUp)
        expectSuccess(TenonLayerApply(called, x_, y_));
      if (call == kApplyAdjoint)
        context.act = destroyAll;
      if (call > kApply)
        expectSuccess(TenonLayerApplyAdjoint(called, x_, y_));
      if (call > kSetUp)
        expectMaximum(y_, 2);
      EXPECT_EQ(context.freed, 1);
      EXPECT_EQ(layer, nullptr);
      expectCode(TENON_ERR_HANDLE, TenonLayerApply(stale, x_, y_), {"layer is not a valid handle"});
    }
}

// Both handles of a layer are destroyed in its function, which also creates and destroys another
// layer: that one is freed at once.
TEST_F(Callbacks, AFunctionCanDestroyAllHandlesOfItsLayerAndFreeOtherLayersAtOnce) {
  Context inner{[] {}}, context{[] {}};
  TenonLayer layer = shell(context, /*hasSetUp=*/false), second = layer, temporary = nullptr;
  expectSuccess(TenonObjectRetain(objectOf(layer)));
  expectSuccess(TenonLayerSetUp(layer, rows_));
  context.act = [&] {
    temporary = shell(inner, /*hasSetUp=*/false);
    expectSuccess(TenonLayerDestroy(&temporary));
    EXPECT_EQ(inner.freed, 1);
    expectSuccess(TenonLayerDestroy(&layer));
    expectCode(TENON_ERR_STATE, TenonLayerApply(second, x_, other_), {"another layer"});
    expectSuccess(TenonLayerDestroy(&second));
    EXPECT_EQ(context.freed, 0);
  };
  const TenonLayer called = layer;
  expectSuccess(TenonLayerApply(called, x_, y_));
  expectMaximum(y_, 2);
  EXPECT_EQ(context.freed, 1);
  expectCode(TENON_ERR_HANDLE, TenonLayerApply(called, x_, y_), {"not a valid handle"});
}

TEST_F(Callbacks, ALayerIsNotCalledByItsOwnFunctions) {
  for (const bool inContainer : {false, true}) {
    Context context{[] {}};
    TenonLayer layer = shell(context, /*hasSetUp=*/false),
               all = inContainer ? containerOf(layer) : nullptr;
    const TenonLayer called = inContainer ? all : layer;
    expectSuccess(TenonLayerSetUp(called, rows_));
    context.act = [&] {
      for (TenonLayer again : {layer, called}) {
        expectCode(TENON_ERR_STATE, TenonLayerApply(again, x_, other_), {"another layer"});
        if (again == called) {
          expectCode(TENON_ERR_STATE, TenonLayerSetUp(again, rows_), {"TenonLayerSetUp()"});
          expectCode(TENON_ERR_STATE, TenonLayerApplyAdjoint(again, x_, other_),
                     {"TenonLayerApplyAdjoint()"});
          expectCode(TENON_ERR_STATE, TenonLayerClearStack(again), {"TenonLayerClearStack()"});
        }
      }
    };
    expectSuccess(TenonLayerApply(called, x_, y_));
    expectMaximum(y_, 2);
    expectSuccess(TenonLayerApplyAdjoint(called, x_, y_));
    expectMaximum(y_, 2);
    expectCode(TENON_ERR_STATE, TenonLayerApplyAdjoint(called, x_, y_), {"no pending evaluation"});
    expectSuccess(TenonLayerDestroy(&layer));
    expectSuccess(TenonLayerDestroy(&all));
  }
}

TEST_F(Callbacks, ALayerIsNotChangedByItsSetUpFunction) {
  Context context{[] {}};
  TenonLayer layer = shell(context, /*hasSetUp=*/true), all = containerOf(layer), relu = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "relu", &relu));
  context.act = [&] {
    const TenonLayerShellFunctions functions = {setUpLayer, applyLayer, nullptr, nullptr};
    expectCode(TENON_ERR_STATE, TenonObjectSetText(objectOf(layer), "storage", "root"),
               {"changing the setting \"storage\""});
    expectCode(TENON_ERR_STATE, TenonLayerShellSetFunctions(layer, &functions),
               {"changing the functions"});
    expectCode(TENON_ERR_STATE, TenonLayerSequentialAdd(all, relu), {"adding a layer"});
  };
  expectSuccess(TenonLayerSetUp(all, rows_));
  context.act = [] {};
  expectSuccess(TenonLayerApply(all, x_, y_));
  expectMaximum(y_, 2);
  for (TenonLayer* one : {&layer, &all, &relu})
    expectSuccess(TenonLayerDestroy(one));
}

TEST_F(Callbacks, LentTensorsAndLayoutsAreNotDestroyed) {
  Context context{[] {}};
  TenonLayer layer = shell(context, /*hasSetUp=*/false);
  const TenonLayerShellFunctions functions = {
      [](TenonLayer, TenonLayout input, TenonLayout* output, void*) {
        *output = input; // without a reference
        return TENON_SUCCESS;
      },
      [](TenonLayer, TenonDTensor x, TenonDTensor y, void*) {
        const TenonErrorCode code = timesTwo(x, y);
        TenonDTensor lent = y;
        expectCode(TENON_ERR_HANDLE, TenonDTensorDestroy(&lent), {"has lent"});
        return code;
      },
      nullptr, nullptr};
  TenonLayer unowned = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "shell", &unowned));
  expectSuccess(TenonLayerSetDataType(unowned, TENON_FLOAT64));
  expectSuccess(TenonLayerShellSetFunctions(unowned, &functions));
  expectCode(TENON_ERR_HANDLE, TenonLayerSetUp(unowned, rows_), {"has lent"});
  const TenonLayerShellFunctions plain = {nullptr, functions.apply, nullptr, nullptr};
  expectSuccess(TenonLayerShellSetFunctions(unowned, &plain));
  TenonLayer all = containerOf(unowned);
  expectSuccess(TenonLayerSequentialAdd(all, layer)); // the network owns the tensor between both
  expectSuccess(TenonLayerSetUp(all, rows_));
  expectSuccess(TenonLayerApply(all, x_, y_));
  expectMaximum(y_, 4);
  for (TenonLayer* one : {&layer, &unowned, &all})
    expectSuccess(TenonLayerDestroy(one));
}

// Inside the functions; outside them there are no tensors.
TEST_F(Callbacks, AShellHasTheTensorsThatWereAddedToIt) {
  Context context{[] {}};
  TenonLayer layer = shell(context, /*hasSetUp=*/false);
  const TenonInt one = 1;
  expectSuccess(TenonLayerShellAddParameter(layer, "factor", 1, &one, 1, 1));
  for (const char* name : {"count", "mean"})
    expectSuccess(TenonLayerShellAddState(layer, name, 1, &one, name[0] == 'm' ? 7 : 3));
  bool isAdjoint = false;
  context.act = [&] {
    TenonDTensor found = nullptr;
    const auto get = [&](TenonShellTensor which, int index) {
      return TenonLayerShellGetTensor(layer, which, index, &found);
    };
    expectSuccess(get(TENON_SHELL_STATE, 1));
    expectMaximum(found, 7);
    expectSuccess(get(TENON_SHELL_PARAMETER, 0));
    expectMaximum(found, 5);
    expectSuccess(get(TENON_SHELL_PARAMETER_GRADIENT, 0));
    EXPECT_EQ(found != nullptr, isAdjoint);
    expectSuccess(get(TENON_SHELL_PARAMETER_TANGENT, 0));
    EXPECT_EQ(found, nullptr);
    for (const int index : {-1, 2})
      expectCode(TENON_ERR_ARG, get(TENON_SHELL_STATE, index), {"state index", "has 2 states"});
    for (const auto which :
         {TENON_SHELL_PARAMETER, TENON_SHELL_PARAMETER_TANGENT, TENON_SHELL_PARAMETER_GRADIENT})
      expectCode(TENON_ERR_ARG, get(which, 1), {"parameter index 1", "has 1 parameters"});
    expectCode(TENON_ERR_ARG, get(static_cast<TenonShellTensor>(4), 0), {"which is 4"});
    expectCode(TENON_ERR_NULL, TenonLayerShellGetTensor(layer, TENON_SHELL_STATE, 0, nullptr),
               {"tensor is NULL"});
  };
  expectSuccess(TenonLayerSetUp(layer, rows_));
  TenonDTensor factor = nullptr, none = nullptr;
  expectSuccess(TenonLayerGetParameter(layer, 0, &factor));
  expectSuccess(TenonDTensorFillConstant(factor, 5));
  expectSuccess(TenonLayerApply(layer, x_, y_));
  isAdjoint = true;
  expectSuccess(TenonLayerApplyAdjoint(layer, y_, other_));
  expectMaximum(other_, 4);
  expectCode(TENON_ERR_STATE, TenonLayerShellGetTensor(layer, TENON_SHELL_STATE, 0, &none),
             {"inside the user functions"});
  expectSuccess(TenonDTensorDestroy(&factor));
  expectSuccess(TenonLayerDestroy(&layer));
}

TEST_F(Callbacks, AnOperatorThatIsDestroyedInItsFunctionLivesUntilItReturns) {
  for (const bool isSplit : {false, true}) { // into ApplyBegin and ApplyEnd
    Context context{[] {}};
    TenonLinearOp op = operatorOf(context);
    const TenonLinearOp called = op;
    context.act = [&] {
      expectSuccess(TenonLinearOpDestroy(&op));
      EXPECT_EQ(context.freed, 0);
    };
    if (isSplit) {
      expectSuccess(TenonLinearOpApplyBegin(op, 1, x_, 0, y_));
      expectSuccess(TenonLinearOpApplyEnd(op));
    } else {
      expectSuccess(TenonLinearOpApply(op, x_, y_));
    }
    expectMaximum(y_, 2);
    EXPECT_EQ(context.freed, 1);
    expectCode(TENON_ERR_HANDLE, TenonLinearOpApply(called, x_, y_), {"not a valid handle"});
  }
}

TEST_F(Callbacks, AnOperatorIsNotAppliedByItsOwnFunction) {
  Context context{[] {}};
  TenonLinearOp op = operatorOf(context), twice = nullptr;
  const TenonLinearOp both[] = {op, op};
  expectSuccess(TenonLinearOpCreateComposition(2, both, &twice));
  TenonLinearOp called = op;
  context.act = [&] {
    for (TenonLinearOp again : {op, called})
      expectCode(TENON_ERR_STATE, TenonLinearOpApply(again, x_, other_), {"another operator"});
  };
  expectSuccess(TenonLinearOpApply(op, x_, y_));
  expectMaximum(y_, 2);
  expectSuccess(TenonLinearOpApplyAdjoint(op, x_, y_));
  expectMaximum(y_, 2);
  called = twice;
  expectSuccess(TenonLinearOpApply(twice, x_, y_));
  expectMaximum(y_, 4);
  expectSuccess(TenonLinearOpDestroy(&op));
  expectSuccess(TenonLinearOpDestroy(&twice));
}

// The function that frees the context of a layer or an operator throws an exception: the destroy
// succeeds, and a message is printed.
TEST_F(Callbacks, AFunctionThatFreesAContextMayThrow) {
  std::string printed;
  TenonSetErrorOutputHandler(
      [](const char text[], int length, void* context) {
        static_cast<std::string*>(context)->append(text, static_cast<std::size_t>(length));
      },
      &printed);
  int freed = 0;
  const auto free = [](void* context) {
    ++*static_cast<int*>(context);
    throw std::runtime_error("of the program");
  };
  TenonLayer layer = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "shell", &layer));
  expectSuccess(TenonLayerShellSetContext(layer, &freed, free));
  expectSuccess(TenonLayerDestroy(&layer));
  TenonLinearOp op = nullptr;
  expectSuccess(TenonLinearOpCreateShell(rows_, rows_, TENON_FLOAT64, TENON_FLOAT64, applyOperator,
                                         applyOperator, &freed, free, &op));
  expectSuccess(TenonLinearOpDestroy(&op));
  TenonSetErrorOutputHandler(nullptr, nullptr);
  EXPECT_EQ(freed, 2);
  EXPECT_NE(printed.find("frees a context threw an exception"), printed.npos) << printed;
}

TEST_F(Callbacks, AnOptimizerTakesNoStepInItsClosureAndLivesUntilItReturns) {
  TenonLayer affine = nullptr;
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 3, 2, &affine));
  expectSuccess(TenonLayerSetUp(affine, rows_));
  for (const char* type : {"sgd", "lbfgs"}) {
    TenonOptimizer optimizer = nullptr;
    expectSuccess(TenonOptimizerCreate(affine, type, &optimizer));
    const TenonOptimizerClosure closure = [](TenonOptimizer own, double* loss, void* context) {
      auto* handle = static_cast<TenonOptimizer*>(context);
      *loss = 1;
      expectCode(TENON_ERR_STATE, TenonOptimizerStep(own), {"is taking a step"});
      expectCode(
          TENON_ERR_STATE,
          TenonOptimizerStepClosure(
              own, [](TenonOptimizer, double*, void*) { return TENON_SUCCESS; }, nullptr, nullptr),
          {"is taking a step"});
      expectSuccess(TenonOptimizerDestroy(handle));
      return TENON_SUCCESS;
    };
    double loss = 0;
    expectSuccess(TenonOptimizerStepClosure(optimizer, closure, &optimizer, &loss));
    EXPECT_EQ(loss, 1);
    EXPECT_EQ(optimizer, nullptr);
  }
  expectSuccess(TenonLayerDestroy(&affine));
}

} // namespace
} // namespace tenon::test
