// SPDX-License-Identifier: BSD-2-Clause
// The C API's functions that concern the whole program: options and their declarations, files, the
// event log, progress output, versions, initialisation, and what is reported at the end.
#include "capi/expect_code.hpp"

#include <tenon/ext/fortran.h>
#include <tenon/ext/options.h>
#include <tenon/ext/reduction.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>

namespace tenon::test {
namespace {

TEST_F(CApi, OptionsAreSetAndReadByType) {
  TenonInt verbose = -1;
  TenonBool given = TENON_TRUE;
  expectSuccess(TenonOptionsHas("", "progress", &given));
  EXPECT_EQ(given, TENON_FALSE);
  expectSuccess(TenonOptionsGetInt(nullptr, "verbose", &verbose));
  EXPECT_EQ(verbose, 0);
  expectSuccess(TenonOptionsSet("-tenon_verbose", "2"));
  expectSuccess(TenonOptionsSet("-tenon_conv1_verbose", "3"));
  expectSuccess(TenonOptionsGetInt("other_", "verbose", &verbose));
  EXPECT_EQ(verbose, 2);
  expectSuccess(TenonOptionsGetInt("conv1_", "verbose", &verbose));
  EXPECT_EQ(verbose, 3);
  expectSuccess(TenonOptionsSet("-tenon_verbose", "0"));
  double seconds = 0;
  expectSuccess(TenonOptionsGetReal("", "agree_timeout", &seconds));
  EXPECT_EQ(seconds, 300);
  TenonBool progress = TENON_TRUE;
  expectSuccess(TenonOptionsGetFlag("", "progress", &progress));
  EXPECT_EQ(progress, TENON_FALSE);
  expectSuccess(TenonOptionsDeclare("test", "sizes", TENON_OPTION_INTEGERS, "8,2,4", "sizes", ""));
  TenonInt sizes[3] = {}, count = 0;
  expectSuccess(TenonOptionsGetIntegers("-", "sizes", 0, nullptr, &count));
  EXPECT_EQ(count, 3);
  expectSuccess(TenonOptionsGetIntegers("-", "sizes", 3, sizes, nullptr));
  EXPECT_EQ(sizes[0] * 100 + sizes[1] * 10 + sizes[2], 824);
  expectCode(TENON_ERR_ARG, TenonOptionsGetIntegers("-", "sizes", 2, sizes, nullptr), {"'sizes'"});
  char text[4] = "x";
  expectSuccess(TenonOptionsGetString("", "options_file", text, sizeof text, nullptr));
  EXPECT_STREQ(text, "");
}

TEST_F(CApi, UnknownAndMalformedOptionsAreNamedWithTheNearest) {
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("-tenon_verbos", "1"), {"verbos", "-tenon_verbose"});
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("-tenon_verbose", "much"), {"much", "integer"});
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("verbose", "1"), {"'verbose'"});
  expectCode(TENON_ERR_NULL, TenonOptionsSet(nullptr, "1"), {"key is NULL"});
  expectCode(TENON_ERR_FILE, TenonOptionsInsertFile("/no/such/file"), {"/no/such/file"});
  TenonInt value = -1;
  expectCode(TENON_ERR_OPTION, TenonOptionsGetInt("", "verbos", &value),
             {"verbos", "did you mean -tenon_verbose"});
  expectCode(TENON_ERR_OPTION, TenonOptionsGetInt("", "progress", &value), {"true or false"});
  expectCode(TENON_ERR_ARG,
             TenonOptionsDeclare("test", "levels", static_cast<TenonOptionType>(9), "1", "", ""),
             {"unknown option type 9"});
  EXPECT_EQ(value, -1);
}

// The program's own options have names without "tenon_" and are read with the prefix "-".
TEST_F(CApi, AnOptionDeclaredWithoutADefaultIsReadOnceItHasAValue) {
  TenonInt levels = -1;
  TenonBool given = TENON_TRUE;
  expectSuccess(
      TenonOptionsDeclare("test", "test_levels", TENON_OPTION_INT, nullptr, "levels", nullptr));
  expectSuccess(TenonOptionsHas("-", "test_levels", &given));
  EXPECT_EQ(given, TENON_FALSE);
  expectCode(TENON_ERR_OPTION, TenonOptionsGetInt("-", "test_levels", &levels),
             {"'-test_levels'", "neither a value nor a default"});
  EXPECT_EQ(levels, -1);
  expectSuccess(TenonOptionsSet("-test_levels", "3"));
  expectSuccess(TenonOptionsGetInt("-", "test_levels", &levels));
  EXPECT_EQ(levels, 3);
  for (const char* bad : {"", "-levels", "two words", "3", "tenon_levels"})
    expectCode(TENON_ERR_OPTION,
               TenonOptionsDeclare("test", bad, TENON_OPTION_INT, "1", nullptr, nullptr), {bad});
  expectCode(TENON_ERR_NULL,
             TenonOptionsDeclare("test", nullptr, TENON_OPTION_INT, "1", nullptr, nullptr),
             {"name is NULL"});
  expectCode(TENON_ERR_OPTION,
             TenonOptionsDeclare("test", "kind", TENON_OPTION_CHOICE, "a", nullptr, nullptr),
             {"'kind'", "choices"});
  expectCode(TENON_ERR_STATE, TenonOptionsOwnCommandLine(), {"before TenonInitialize()"});
}

TEST_F(CApi, FilesAreWrittenAsAWhole) {
  const std::string path = testing::TempDir() + "tenon_capi_file." + std::to_string(worldSize()) +
                           "." + std::to_string(worldRank());
  expectSuccess(TenonWriteFile(path.c_str(), "two\nlines\n", 10));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "two\nlines\n");
  std::remove(path.c_str());
  expectCode(TENON_ERR_FILE, TenonWriteFile("/dev/null", "", 0), {"/dev/null", "a device"});
  expectCode(TENON_ERR_NULL, TenonWriteFile(nullptr, "", 0), {"path is NULL"});
  expectCode(TENON_ERR_NULL, TenonWriteFile(path.c_str(), nullptr, 3), {"text is NULL"});
  expectCode(TENON_ERR_ARG, TenonWriteFile(path.c_str(), "x", -1), {"length is -1"});
  EXPECT_FALSE(std::ifstream(path));
}

// C programs may pass any int for an enumeration. In C++ this is only defined if the enumeration's
// underlying type is int.
static_assert(std::is_same_v<std::underlying_type_t<TenonErrorCode>, int> &&
              std::is_same_v<std::underlying_type_t<TenonDataType>, int> &&
              std::is_same_v<std::underlying_type_t<TenonMemorySpace>, int> &&
              std::is_same_v<std::underlying_type_t<TenonBoundary>, int> &&
              std::is_same_v<std::underlying_type_t<TenonLinkRule>, int> &&
              std::is_same_v<std::underlying_type_t<TenonOptionType>, int> &&
              std::is_same_v<std::underlying_type_t<TenonCollective>, int> &&
              std::is_same_v<std::underlying_type_t<TenonReductionAlgorithm>, int>);

TEST_F(CApi, AnyIntegerForAnEnumerationIsHandled) {
  TenonLayout line = layout({4}, "B");
  TenonDTensor x = nullptr;
  TenonLayer conv = nullptr;
  const TenonInt kernel[1] = {3};
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, kernel, &conv));
  for (const int wrong : {-1, 0x7fff, 0x8000, 0x7fffffff, -0x7fffffff - 1}) {
    const auto boundary = static_cast<TenonBoundary>(wrong);
    EXPECT_STRNE(TenonErrorName(static_cast<TenonErrorCode>(wrong)), "");
    expectCode(TENON_ERR_ARG, TenonLayerSetBoundary(conv, &boundary, nullptr), {"low[0] is"});
    EXPECT_NE(TenonDTensorCreate(line, static_cast<TenonDataType>(wrong), &x), TENON_SUCCESS);
    EXPECT_NE(TenonLayerSetDataType(conv, static_cast<TenonDataType>(wrong)), TENON_SUCCESS);
    EXPECT_NE(TenonLayerSetSpace(conv, static_cast<TenonMemorySpace>(wrong)), TENON_SUCCESS);
    expectCode(TENON_ERR_ARG,
               TenonOptionsDeclare("test", "odd", static_cast<TenonOptionType>(wrong), "1", "", ""),
               {"unknown option type"});
  }
  EXPECT_EQ(x, nullptr);
  expectSuccess(TenonLayerDestroy(&conv));
  expectSuccess(TenonLayoutDestroy(&line));
}

std::string declaredText(int option, TenonOptionText which) {
  char text[1024] = "";
  expectSuccess(TenonOptionsGetDeclaredText(option, which, text, sizeof text, nullptr));
  return text;
}

TEST_F(CApi, DeclaredOptionsAreListed) {
  int count = 0;
  expectSuccess(TenonOptionsGetDeclaredCount(&count));
  std::set<std::string> keys;
  for (int i = 0; i < count; ++i) {
    const std::string type = declaredText(i, TENON_OPTION_TEXT_TYPE);
    const std::string key = declaredText(i, TENON_OPTION_TEXT_KEY);
    keys.insert(key);
    EXPECT_NE(declaredText(i, TENON_OPTION_TEXT_HELP), "") << key;
    EXPECT_EQ(type == "choice", !declaredText(i, TENON_OPTION_TEXT_CHOICES).empty()) << key;
    if (key == "-tenon_agree_timeout") {
      EXPECT_EQ(type, "real");
      EXPECT_EQ(declaredText(i, TENON_OPTION_TEXT_DEFAULT), "300");
      EXPECT_EQ(declaredText(i, TENON_OPTION_TEXT_OWNER), "tenon");
    }
    if (key == "-tenon_progress") {
      EXPECT_EQ(type, "flag");
    }
  }
  for (const char* key :
       {"-tenon_agree_timeout", "-tenon_progress", "-tenon_log_trace", "-tenon_help"})
    EXPECT_EQ(keys.count(key), 1U) << key;
  TenonInt needed;
  for (const int index : {-1, count})
    expectCode(TENON_ERR_ARG,
               TenonOptionsGetDeclaredText(index, TENON_OPTION_TEXT_KEY, nullptr, 0, &needed),
               {"option index", "in 0 to"});
  expectCode(TENON_ERR_ARG,
             TenonOptionsGetDeclaredText(0, static_cast<TenonOptionText>(6), nullptr, 0, &needed),
             {"which is 6"});
}

TEST_F(CApi, TheLogTakesTheUserEvents) {
  int event = -1, same = -2;
  expectSuccess(TenonLogEventRegister("capi test", &event));
  expectSuccess(TenonLogEventRegister("capi test", &same));
  EXPECT_EQ(event, same);
  expectSuccess(TenonLogEventBegin(event)); // the log is off, so this has no effect
  expectSuccess(TenonLogEnable(TENON_TRUE));
  expectCode(TENON_ERR_ARG, TenonLogEventBegin(-5), {"unknown log event -5"});
  expectSuccess(TenonLogStagePush("testing"));
  expectSuccess(TenonLogEventBegin(event));
  expectSuccess(TenonLogFlops(10));
  double seconds = -1, flops = -1;
  TenonInt messages = -1, bytes = -1;
  expectSuccess(TenonLogGetWork(&seconds, &flops, &messages, &bytes));
  EXPECT_EQ(flops, 10);
  EXPECT_EQ(messages, 0);
  EXPECT_EQ(bytes, 0);
  EXPECT_GE(seconds, 0);
  expectSuccess(TenonLogGetWork(nullptr, nullptr, nullptr, nullptr));
  expectSuccess(TenonLogEventEnd(event));
  expectSuccess(TenonLogGetWork(nullptr, &flops, nullptr,
                                nullptr)); // no event is open, so the work is 0
  EXPECT_EQ(flops, 0);
  expectCode(TENON_ERR_STATE, TenonLogEventEnd(event), {"capi test"});
  expectSuccess(TenonLogStagePop());
  expectCode(TENON_ERR_STATE, TenonLogStagePop(), {"stack of log stages is empty"});
  TenonInt needed = 0;
  expectSuccess(TenonLogGetRecords(nullptr, 0, &needed));
  std::string records(static_cast<std::size_t>(needed), '\0');
  expectSuccess(TenonLogGetRecords(records.data(), needed, nullptr));
  EXPECT_NE(records.find("{\"stage\":\"testing\",\"event\":\"capi test\",\"count\":1,"),
            records.npos)
      << records;
  EXPECT_NE(records.find("\"flops\":10.0,\"messages\":0,\"bytes\":0}"), records.npos) << records;
  expectSuccess(TenonLogEnable(TENON_FALSE));
}

TEST_F(CApi, ProgressIsShownOnRequest) {
  expectSuccess(TenonProgressShow("test", 7, 5, nullptr,
                                  0)); // progress is off: the wrong arguments are not checked
  expectCode(TENON_ERR_NULL, TenonProgressShow(nullptr, 1, 5, nullptr, 0), {"name is NULL"});
  expectSuccess(TenonOptionsSet("-tenon_progress", "true"));
  const TenonErrorCode code = TenonProgressShow("test", 7, 5, "loss", 0.5);
  EXPECT_EQ(code, worldRank() == 0 ? TENON_ERR_ARG : TENON_SUCCESS);
  expectSuccess(TenonOptionsSet("-tenon_progress", "false"));
}

TEST(Version, IsComparedByTheMostSignificantNumberThatDiffers) {
  constexpr int major = TENON_VERSION_MAJOR, minor = TENON_VERSION_MINOR,
                patch = TENON_VERSION_PATCH;
  static_assert(TENON_VERSION_AT_LEAST(major, minor, patch));
  static_assert(TENON_VERSION_AT_LEAST(major, minor - 1, patch + 1));
  static_assert(TENON_VERSION_AT_LEAST(major - 1, minor + 1, patch + 1));
  static_assert(!TENON_VERSION_AT_LEAST(major, minor, patch + 1));
  static_assert(!TENON_VERSION_AT_LEAST(major, minor + 1, patch - 1));
  static_assert(!TENON_VERSION_AT_LEAST(major + 1, minor - 1, patch - 1));
#if TENON_VERSION_AT_LEAST(0, 0, 0) && !TENON_VERSION_AT_LEAST(1000, 0, 0)
  constexpr bool isForThePreprocessor = true;
#else
  constexpr bool isForThePreprocessor = false;
#endif
  EXPECT_TRUE(isForThePreprocessor);
}

TEST_F(CApi, TheVersionIsThatOfTheHeaders) {
  int major = -1, minor = -1, patch = -1;
  expectSuccess(TenonGetVersion(&major, &minor, &patch));
  EXPECT_EQ(major, TENON_VERSION_MAJOR);
  EXPECT_EQ(minor, TENON_VERSION_MINOR);
  EXPECT_EQ(patch, TENON_VERSION_PATCH);
  expectSuccess(TenonGetVersion(nullptr, nullptr, nullptr));
  char text[32] = "", expected[32] = "";
  std::snprintf(expected, sizeof expected, "%d.%d.%d", major, minor, patch);
  expectSuccess(TenonGetInfo("version", text, sizeof text, nullptr));
  EXPECT_STREQ(text, expected);
  expectCode(TENON_ERR_ARG, TenonGetInfo("version", text, 2, nullptr), {"length of 2"});
  char info[2048] = "";
  expectSuccess(TenonGetInfo("build", info, sizeof info, nullptr));
  for (const char* line :
       {"version: ", "\ncompiler: ", "\nMPI library: ", "\noneDNN: ", "\nBLAS: "})
    EXPECT_NE(std::strstr(info, line), nullptr) << line;
}

TEST_F(CApi, InitialisationIsCountedAndNeedsARunningMpi) {
  TenonBool on = TENON_FALSE;
  expectSuccess(TenonInitializeWithComm(MPI_COMM_SELF, nullptr, nullptr, nullptr));
  expectSuccess(TenonFinalize());
  expectSuccess(TenonInitialized(&on));
  EXPECT_EQ(on, TENON_TRUE);
  expectCode(TENON_ERR_NULL, TenonInitializeWithComm(MPI_COMM_NULL, nullptr, nullptr, nullptr),
             {"MPI_COMM_NULL"});
}

TEST_F(CApi, AFortranCommunicatorIsTheSame) {
  MPI_Comm comm = MPI_COMM_NULL;
  expectSuccess(TenonCommFromFortran(MPI_Comm_c2f(MPI_COMM_WORLD), &comm));
  EXPECT_EQ(comm, MPI_COMM_WORLD);
}

// An output handler whose context is a string.
void appendText(const char* text, int length, void* report) {
  static_cast<std::string*>(report)->append(text, length);
}

// After TenonFinalize() calls return an error, except Destroy. Objects that still exist are
// reported.
TEST(WithoutSession, CallsSayThatTenonIsNotInitialised) {
  TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
  const int extent = worldSize();
  const TenonInt low = worldRank(), high = worldRank() + 1;
  TenonPartition partition = nullptr;
  TenonLayout layout = nullptr;
  TenonDTensor x = nullptr;
  expectSuccess(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 1, nullptr, &low, &high, &layout));
  expectSuccess(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  expectSuccess(TenonObjectSetName(objectOf(x), "left"));
  expectSuccess(TenonObjectRetain(objectOf(x)));
  std::string report;
  expectSuccess(TenonSetErrorOutputHandler(appendText, &report));
  expectSuccess(TenonFinalize());
  expectSuccess(TenonSetErrorOutputHandler(nullptr, nullptr));
  // The layout that the tensor refers to is the created one; the partition is internal.
  if (worldRank() == 0) {
    EXPECT_EQ(report, "Tenon: 2 objects were never destroyed on rank 0:\n"
                      "  unnamed Layout, 1 reference\n  DTensor 'left', 2 references\n");
  }
  expectCode(TENON_ERR_STATE, TenonPartitionCreate(MPI_COMM_WORLD, 1, &extent, &partition),
             {"not initialised", "TenonInitialize"});
  double norm = 0;
  expectCode(TENON_ERR_STATE, TenonDTensorNorm(x, &norm), {"not initialised"});
  expectCode(TENON_ERR_STATE, TenonFinalize(), {"not initialised"});
  TenonDTensor again = x;
  expectSuccess(TenonDTensorDestroy(&again));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&layout));
  expectSuccess(TenonInitialize(nullptr, nullptr, nullptr));
  TenonPopErrorHandler();
}

} // namespace
} // namespace tenon::test
