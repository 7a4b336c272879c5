// SPDX-License-Identifier: BSD-2-Clause
// Handles of the C API: wrong ones (NULL, of a destroyed object, of an object of another class)
// give an error that names the argument; names, classes, communicators and reference counts of
// objects; buffers for texts that are too short; and the record of the last error, with the handler
// that is called for it.
#include "capi/expect_code.hpp"

#include <tenon/edges.h>
#include <tenon/ext/machine.h>
#include <tenon/index_map.h>
#include <tenon/links.h>

namespace tenon::test {
namespace {

TEST_F(CApi, ADestroyedHandleIsNamedAndHarmless) {
  TenonLayout created = layout({8}, "S0");
  TenonLayout stale = created;
  expectSuccess(TenonLayoutDestroy(&created));
  EXPECT_EQ(created, nullptr);
  expectSuccess(TenonLayoutDestroy(&created)); // NULL is accepted
  int ndim = -1;
  expectCode(TENON_ERR_HANDLE, TenonLayoutGetDim(stale, &ndim), {"layout", "destroyed", "Layout"});
  EXPECT_EQ(ndim, -1);
  expectCode(TENON_ERR_HANDLE, TenonLayoutDestroy(&stale), {"destroyed"});
}

TEST_F(CApi, AHandleOfAnotherClassIsNamed) {
  expectSuccess(TenonObjectSetName(objectOf(all_), "grid"));
  int ndim = 0;
  expectCode(TENON_ERR_HANDLE, TenonLayoutGetDim(reinterpret_cast<TenonLayout>(all_), &ndim),
             {"partition \"grid\"", "pass a Layout"});
  int foreign = 0;
  expectCode(TENON_ERR_HANDLE, TenonLayoutGetDim(reinterpret_cast<TenonLayout>(&foreign), &ndim),
             {"not a valid handle"});
}

TEST_F(CApi, NullHandlesAndAddressesAreNamed) {
  int axes = 0;
  expectCode(TENON_ERR_NULL, TenonPartitionGetAxes(nullptr, &axes), {"partition is NULL"});
  expectCode(TENON_ERR_NULL, TenonPartitionGetAxes(all_, nullptr), {"axes is NULL"});
  expectCode(TENON_ERR_NULL, TenonPartitionDestroy(nullptr), {"partition is NULL"});
  expectCode(TENON_ERR_NULL, TenonObjectSetName(nullptr, "x"), {"object is NULL"});
}

TEST_F(CApi, ObjectsHaveNamesPrefixesAndClasses) {
  const auto object = objectOf(all_);
  char text[16] = "x";
  expectSuccess(TenonObjectGetName(object, text, sizeof text, nullptr));
  EXPECT_STREQ(text, "");
  expectSuccess(TenonObjectSetName(object, "grid"));
  expectSuccess(TenonObjectGetName(object, text, 5, nullptr));
  EXPECT_STREQ(text, "grid");
  expectCode(TENON_ERR_ARG, TenonObjectGetName(object, text, 4, nullptr),
             {"length of 4", "5 are needed"});
  expectCode(TENON_ERR_ARG, TenonObjectSetName(object, "a\x1b[2J"),
             {"the new name of partition", "'a\\x1b[2J'", "control character"});
  expectCode(TENON_ERR_ARG, TenonObjectSetOptionsPrefix(object, "gr\xf6_"),
             {"'gr\\xf6_'", "position 3, which is not UTF-8"});
  expectSuccess(TenonObjectSetOptionsPrefix(object, "g_"));
  expectSuccess(TenonObjectGetOptionsPrefix(object, text, sizeof text, nullptr));
  EXPECT_STREQ(text, "g_");
  expectSuccess(TenonObjectGetClass(object, text, sizeof text, nullptr));
  EXPECT_STREQ(text, "Partition");
  expectSuccess(TenonObjectGetType(object, text, sizeof text, nullptr));
  EXPECT_STREQ(text, ""); // partitions have no types
}

TEST_F(CApi, AClassWithoutSettingsIsNamed) {
  expectSuccess(TenonObjectSetName(objectOf(all_), "grid"));
  expectCode(TENON_ERR_TYPE, TenonObjectSetReal(objectOf(all_), "rate", 0.5),
             {"partition \"grid\" is of class Partition, which has no settings", "layers"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetFromOptions(objectOf(all_)), {"no settings"});
  TenonBool isSet = TENON_TRUE;
  expectCode(TENON_ERR_TYPE, TenonObjectIsSet(objectOf(all_), "rate", &isSet), {"no settings"});
  expectCode(TENON_ERR_NULL, TenonObjectSetReal(nullptr, "rate", 0.5), {"object is NULL"});
}

TEST_F(CApi, ATextReturnsTheSizeThatItNeeds) {
  const auto object = objectOf(all_);
  expectSuccess(TenonObjectSetName(object, "grid"));
  TenonInt needed = 0;
  expectSuccess(TenonObjectGetName(object, nullptr, 0, &needed));
  EXPECT_EQ(needed, 5);
  std::string text(4, 'x');
  needed = 0;
  expectCode(TENON_ERR_ARG, TenonObjectGetName(object, text.data(), 4, &needed), {"5 are needed"});
  EXPECT_EQ(needed, 5);
  EXPECT_EQ(text, "xxxx");
  expectCode(TENON_ERR_ARG, TenonObjectGetName(object, text.data(), -1, &needed), {"length of -1"});
  text.resize(5);
  expectSuccess(TenonObjectGetName(object, text.data(), 5, &needed));
  EXPECT_STREQ(text.c_str(), "grid");
  EXPECT_EQ(needed, 5);
  expectCode(TENON_ERR_NULL, TenonObjectGetName(object, nullptr, 0, nullptr), {"name is NULL"});
}

TEST_F(CApi, ObjectsTellTheirCommunicator) {
  TenonLayout four = layout({4}, "B");
  TenonDTensor x = tensor(four, TENON_FLOAT64);
  MPI_Comm ofTensor = MPI_COMM_NULL, ofPartition = MPI_COMM_NULL;
  expectSuccess(TenonObjectGetComm(objectOf(x), &ofTensor));
  expectSuccess(TenonObjectGetComm(objectOf(all_), &ofPartition));
  EXPECT_EQ(ofTensor, ofPartition);
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(ofTensor, MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  const char* level = "node";
  const TenonInt size = 2;
  TenonMachine machine = nullptr;
  expectSuccess(TenonMachineCreate("mine", 1, &level, &size, &machine));
  expectCode(TENON_ERR_SUPPORT, TenonObjectGetComm(objectOf(machine), &ofTensor),
             {"the machine", "no communicator"});
  expectCode(TENON_ERR_NULL, TenonObjectGetComm(objectOf(x), nullptr), {"comm is NULL"});
  expectSuccess(TenonMachineDestroy(&machine));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&four));
}

// Each rank prints its own part of these, but they have a communicator.
TEST_F(CApi, ListsOfAMeshTellTheirCommunicator) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const TenonInt id = rank, tiles = ranks, first = 0;
  const TenonBoundary periodic = TENON_BOUNDARY_PERIODIC;
  TenonIndexMap map = nullptr;
  TenonEdges edges = nullptr;
  TenonLinks links = nullptr;
  expectSuccess(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 1, 1, &id, &map));
  expectSuccess(TenonEdgesCreate(map, map, 1, &first, &first, nullptr, nullptr, &edges));
  expectSuccess(
      TenonLinksCreateFromTiles(MPI_COMM_WORLD, 1, &tiles, &periodic, nullptr, 1, &id, &links));
  MPI_Comm ofPartition = MPI_COMM_NULL;
  expectSuccess(TenonObjectGetComm(objectOf(all_), &ofPartition));
  for (TenonObject object : {objectOf(map), objectOf(edges), objectOf(links)}) {
    MPI_Comm comm = MPI_COMM_NULL;
    expectSuccess(TenonObjectGetComm(object, &comm));
    EXPECT_EQ(comm, ofPartition);
  }
  expectSuccess(TenonLinksDestroy(&links));
  expectSuccess(TenonEdgesDestroy(&edges));
  expectSuccess(TenonIndexMapDestroy(&map));
}

TEST_F(CApi, ARetainedObjectOutlivesADestroy) {
  TenonLayout created = layout({8}, "S0");
  TenonLayout second = created;
  const auto object = objectOf(created);
  int references = 0;
  expectSuccess(TenonObjectRetain(object));
  expectSuccess(TenonObjectGetReferences(object, &references));
  EXPECT_EQ(references, 2);
  expectSuccess(TenonLayoutDestroy(&created));
  int ndim = 0;
  expectSuccess(TenonLayoutGetDim(second, &ndim));
  EXPECT_EQ(ndim, 1);
  expectSuccess(TenonLayoutDestroy(&second));
}

// The calls of the error handler below for one error.
struct HandlerCalls {
  TenonErrorCode code = TENON_SUCCESS;
  std::string message, function;
  int levels = 0; // frames: the function that failed, its caller, ...
};

void noteCall(TenonErrorCode code, int level, const char* message, const char* function,
              const char*, int, void* context) {
  auto& calls = *static_cast<HandlerCalls*>(context);
  calls.code = code;
  calls.levels = level + 1;
  if (level == 0) {
    calls.message = message;
    calls.function = function;
  }
}

// A function of the program, which becomes the second frame of the error.
TenonErrorCode caller() {
  TenonCall(TenonPartitionDestroy(nullptr));
  return TENON_SUCCESS;
}

TEST_F(CApi, TheHandlerHearsTheCallAndItsCallers) {
  HandlerCalls calls;
  expectSuccess(TenonPushErrorHandler(noteCall, &calls));
  EXPECT_EQ(caller(), TENON_ERR_NULL);
  expectSuccess(TenonPopErrorHandler());
  EXPECT_EQ(calls.code, TENON_ERR_NULL);
  EXPECT_EQ(calls.function, "TenonPartitionDestroy");
  EXPECT_EQ(calls.levels, 2);
  char report[4096] = "";
  expectSuccess(TenonGetLastErrorReport(report, sizeof report, nullptr));
  EXPECT_NE(std::string(report).find("called from caller"), std::string::npos) << report;
  expectCode(TENON_ERR_NULL, TenonPushErrorHandler(nullptr, nullptr), {"handler"});
}

TEST_F(CApi, TheRecordIsCutToTheBuffer) {
  TenonPartitionDestroy(nullptr);
  TenonErrorCode code = TENON_SUCCESS;
  char text[6] = "";
  EXPECT_EQ(TenonGetLastError(&code, text, sizeof text, nullptr), TENON_SUCCESS);
  EXPECT_EQ(code, TENON_ERR_NULL);
  EXPECT_STREQ(text, "parti");
  EXPECT_EQ(TenonGetLastError(nullptr, text, 0, nullptr), TENON_ERR_ARG);
  TenonInt needed = 0, reportNeeded = 0;
  EXPECT_EQ(TenonGetLastError(nullptr, nullptr, 0, &needed), TENON_SUCCESS);
  std::string whole(static_cast<std::size_t>(needed), 'x');
  EXPECT_EQ(TenonGetLastError(nullptr, whole.data(), needed, nullptr), TENON_SUCCESS);
  EXPECT_EQ(whole.find('\0'), whole.size() - 1);
  EXPECT_EQ(TenonGetLastErrorReport(nullptr, 0, &reportNeeded), TENON_SUCCESS);
  EXPECT_GT(reportNeeded, needed);
  EXPECT_STREQ(TenonErrorString(TENON_ERR_SHAPE), "incompatible shapes");
}

} // namespace
} // namespace tenon::test
