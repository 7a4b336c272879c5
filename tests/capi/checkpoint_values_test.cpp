// SPDX-License-Identifier: BSD-2-Clause
// The values that a checkpoint stores, which are its settings of any name: what comes back from a
// file, and what wrong names, types and texts answer; and the list of a whole and a damaged file.
#include "capi/expect_code.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

namespace tenon::test {
namespace {

class CheckpointValues : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    path_ = testing::TempDir() + "tenon_values_" + std::to_string(worldSize()) + ".h5";
    checkpoint_ = created();
    if (!checkpoint_)
      GTEST_SKIP() << "this build has no HDF5";
  }
  void TearDown() override {
    expectSuccess(TenonCheckpointDestroy(&checkpoint_));
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0)
      std::remove(path_.c_str());
    CApi::TearDown();
  }

  static TenonCheckpoint created() {
    TenonCheckpoint made = nullptr;
    const TenonErrorCode code = TenonCheckpointCreate(MPI_COMM_WORLD, &made);
    if (code != TENON_ERR_SUPPORT)
      expectSuccess(code);
    return made;
  }
  TenonObject values() const { return objectOf(checkpoint_); }
  TenonErrorCode write() { return TenonCheckpointWrite(checkpoint_, path_.c_str()); }

  TenonErrorCode setReal(const char* name, double value) {
    return TenonObjectSetReal(values(), name, value);
  }
  TenonErrorCode setText(const char* name, const char* value) {
    return TenonObjectSetText(values(), name, value);
  }
  TenonErrorCode integer(const char* name, TenonInt* value) {
    return TenonObjectGetIntegers(values(), name, 1, value, nullptr);
  }

  TenonCheckpoint checkpoint_ = nullptr;
  std::string path_;
};

TEST_F(CheckpointValues, AreReadFromAFileAsTheyWereWritten) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expectSuccess(setInteger(checkpoint_, "epoch", worldRank() == 0 ? 7 : -1)); // rank 0 counts
  expectSuccess(setReal("time", 0.125));
  expectSuccess(setReal("best", kInfinity));
  expectSuccess(setText("note", "a\nb µ"));
  expectSuccess(setText("replaced", "text"));
  expectSuccess(setReal("replaced", 2)); // of another type than before
  expectSuccess(write());
  expectSuccess(TenonCheckpointDestroy(&checkpoint_));

  checkpoint_ = created();
  expectSuccess(setReal("time", 3));
  expectSuccess(setReal("mine", 4));
  expectSuccess(TenonCheckpointRead(checkpoint_, path_.c_str()));
  TenonInt epoch = 0, count = 0, length = 0;
  double time = 0, best = 0, replaced = 0, mine = 0;
  expectSuccess(TenonObjectGetIntegers(values(), "epoch", 1, &epoch, &count));
  expectSuccess(TenonObjectGetReal(values(), "time", &time));
  expectSuccess(TenonObjectGetReal(values(), "best", &best));
  expectSuccess(TenonObjectGetReal(values(), "replaced", &replaced));
  expectSuccess(TenonObjectGetReal(values(), "mine", &mine)); // the file has no other
  char note[16] = "";
  expectSuccess(TenonObjectGetText(values(), "note", note, sizeof note, &length));
  EXPECT_EQ(epoch, 7);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(time, 0.125);
  EXPECT_EQ(best, kInfinity);
  EXPECT_EQ(replaced, 2);
  EXPECT_EQ(mine, 4);
  EXPECT_STREQ(note, "a\nb µ");
  EXPECT_EQ(length, 7);
}

TEST_F(CheckpointValues, HaveATypeAndAName) {
  TenonInt epoch = 0;
  double time = 0;
  TenonBool isSet = TENON_TRUE;
  char text[2] = "";
  expectCode(TENON_ERR_ARG, TenonObjectGetReal(values(), "time", &time),
             {"no value 'time'", "it has none"});
  expectSuccess(TenonObjectIsSet(values(), "time", &isSet));
  EXPECT_EQ(isSet, TENON_FALSE);
  expectSuccess(setReal("time", 2));
  expectSuccess(setInteger(checkpoint_, "epoch", 3));
  expectSuccess(setText("note", "long"));
  expectSuccess(TenonObjectIsSet(values(), "time", &isSet));
  EXPECT_EQ(isSet, TENON_TRUE);
  expectCode(TENON_ERR_ARG, integer("epochs", &epoch),
             {"no value 'epochs'", "epoch, note", "time"});
  expectCode(TENON_ERR_TYPE, integer("time", &epoch), {"'time'", "integer"});
  expectCode(TENON_ERR_TYPE, TenonObjectGetReal(values(), "epoch", &time), {"'epoch'", "real"});
  expectCode(TENON_ERR_TYPE, TenonObjectGetReal(values(), "note", &time), {"'note'", "real"});
  expectCode(TENON_ERR_TYPE, TenonObjectGetText(values(), "time", text, sizeof text, nullptr),
             {"'time'", "text"});
  expectCode(TENON_ERR_TYPE, TenonObjectGetBool(values(), "epoch", &isSet), {"'epoch'", "true"});
  expectCode(TENON_ERR_ARG, TenonObjectGetText(values(), "note", text, sizeof text, nullptr),
             {"2", "5"});
  expectCode(TENON_ERR_NULL, TenonObjectGetReal(values(), nullptr, &time), {"name is NULL"});
}

// A failure is remembered until the same call succeeds: no file lacks a value unnoticed.
TEST_F(CheckpointValues, AreRefusedBeforeAFileIsWritten) {
  const TenonInt two[] = {1, 2};
  const auto refuse = [&](TenonErrorCode code, TenonErrorCode got,
                          std::initializer_list<const char*> parts) {
    expectCode(code, got, parts);
    expectCommonCode(code, write(), {"an earlier TenonObjectSet"});
  };
  refuse(TENON_ERR_ARG, setReal("", 1), {"name", "empty"});
  refuse(TENON_ERR_ARG, setReal("a\x1b[2J", 1), {"name", "control"});
  refuse(TENON_ERR_ARG, setReal("\xe4", 1), {"name", "UTF-8"});
  refuse(TENON_ERR_ARG, setText("note", "\xe4"), {"'note'", "UTF-8"});
  refuse(TENON_ERR_NULL, setText("note", nullptr), {"text is NULL"});
  refuse(TENON_ERR_ARG, TenonObjectSetIntegers(values(), "epoch", 2, two),
         {"'epoch'", "2 integers"});
  refuse(TENON_ERR_TYPE, TenonObjectSetBool(values(), "done", TENON_TRUE), {"'done'", "0 or 1"});
  expectCode(TENON_ERR_ARG, setText("note", "\xe4"), {"'note'"});
  expectSuccess(setText("note", "a")); // corrects it
  expectSuccess(write());
}

TEST_F(CheckpointValues, AreNotSettings) {
  TenonInt keep = 0;
  expectSuccess(setInteger(checkpoint_, "checkpoint_keep", 3));
  expectSuccess(integer("checkpoint_keep", &keep));
  EXPECT_EQ(keep, 3);
  expectCode(TENON_ERR_ARG, setInteger(checkpoint_, "checkpoint_keep", 0), {"checkpoint_keep"});
  expectSuccess(setInteger(checkpoint_, "checkpoint_keep", 2));
  expectCode(TENON_ERR_TYPE, setInteger(checkpoint_, "checkpoint_kep", 3),
             {"no setting 'checkpoint_kep'", "nearest is 'checkpoint_keep'"});
  expectCode(TENON_ERR_TYPE, integer("checkpoint_kep", &keep), {"no setting 'checkpoint_kep'"});
}

TEST_F(CheckpointValues, AreListedWithTheDigestsOfTheTensors) {
  constexpr double kSeldom = 1234.0625;
  TenonLayout cells = layout({4}, "B");
  TenonDTensor x = tensor(cells, TENON_FLOAT64), y = tensor(cells, TENON_FLOAT64);
  expectSuccess(TenonDTensorFillConstant(x, kSeldom));
  expectSuccess(TenonCheckpointAddTensor(checkpoint_, x, "x"));
  expectSuccess(TenonCheckpointAddTensor(checkpoint_, y, "y"));
  expectSuccess(setReal("time", 0.5));
  expectSuccess(write());
  const auto contents = [&](TenonBool verify) {
    TenonInt needed = 0;
    expectSuccess(TenonCheckpointGetContents(path_.c_str(), verify, nullptr, 0, &needed));
    std::string text(static_cast<std::size_t>(needed), ' ');
    expectSuccess(TenonCheckpointGetContents(path_.c_str(), verify, text.data(), needed, nullptr));
    EXPECT_EQ(text.find('\0'), text.size() - 1); // the size that was asked for is that of the text
    return text;
  };
  const auto expectPart = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  const std::string plain = contents(TENON_FALSE), whole = contents(TENON_TRUE);
  expectPart(plain, R"("format":1,)");
  expectPart(plain, R"("values":{"time":0.5})");
  expectPart(plain, R"({"path":"tensors/x","type":"float64","shape":[4]})");
  expectPart(whole, R"({"path":"tensors/x","type":"float64","shape":[4],"digest":"right"})");
  expectPart(whole, R"({"path":"tensors/y","type":"float64","shape":[4],"digest":"right"})");
  MPI_Barrier(MPI_COMM_WORLD);
  if (worldRank() == 0) { // one element of x is another one
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    const std::size_t at =
        bytes.find(std::string_view(reinterpret_cast<const char*>(&kSeldom), sizeof kSeldom));
    ASSERT_NE(at, bytes.npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(bytes[at] + 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string damaged = contents(TENON_TRUE);
  expectPart(damaged, R"("shape":[4],"digest":"wrong"},{"path":"tensors/y")");
  expectPart(damaged, R"({"path":"tensors/y","type":"float64","shape":[4],"digest":"right"})");
  EXPECT_EQ(contents(TENON_FALSE), plain);
  expectCode(TENON_ERR_FILE, TenonCheckpointGetContents("none.h5", TENON_TRUE, nullptr, 0, nullptr),
             {"none.h5"});
  for (TenonDTensor* one : {&x, &y})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayoutDestroy(&cells));
}

} // namespace
} // namespace tenon::test
