// SPDX-License-Identifier: BSD-2-Clause
// Damaged files by the thousand: each is refused with TENON_ERR_FORMAT, or gives only what is in
// it.
#include "file_bytes.hpp"
#include "sys/expect_error.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tenon {
namespace {

using namespace test;

const std::string kNumbers = rawBytes<float>({0, 1, 2, 3, 4, 5});
const std::string kArray =
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", kNumbers);

struct Sample {
  const char* name;
  std::string bytes;
  bool hasChecksum;
};

std::vector<Sample> samples() {
  return {
      {"safetensors",
       safetensors(
           R"({"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
           R"("__metadata__":{"k":"v"},"a.bias":{"dtype":"F16","shape":[2],"data_offsets":[24,28]}})",
           kNumbers + "abcd"),
       false},
      {"npz", zip({{"a.npy", kArray}, {"b.npy", kArray}}), true},
      {"npz, deflated", zip({{"a.npy", kArray, true}, {"b.npy", kArray, true}}, "a comment"), true},
      {"npz, zip64", zip({{"a.npy", kArray, false, true}, {"b.npy", kArray, true, true}}, "", true),
       true},
      {"npz, descriptors", zip({{"a.npy", kArray, true, false, true}, {"b.npy", kArray}}), true},
  };
}

// What a file gives: each tensor and its numbers; "" where it is refused.
std::string contents(const std::string& bytes) {
  try {
    const WeightsFile file = openFile(bytes);
    std::string text = file.describe();
    for (const StoredTensor& tensor : file.tensors())
      if (isReal(tensor.type))
        text += rawBytes(allOf(file, tensor));
    return text;
  } catch (const Error& error) {
    EXPECT_EQ(TENON_ERR_FORMAT, error.code()) << error.text();
    EXPECT_NE(error.text().find("some file"), std::string::npos) << error.text();
    return "";
  }
}

TEST(DamagedFile, TruncatedAtEachByteIsRefused) {
  for (const Sample& sample : samples()) {
    ASSERT_NE("", contents(sample.bytes)) << sample.name;
    for (std::size_t n = 0; n < sample.bytes.size(); ++n)
      ASSERT_EQ("", contents(sample.bytes.substr(0, n))) << sample.name << " after " << n;
    EXPECT_EQ("", contents(sample.bytes + '\0')) << sample.name;
  }
}

// Of formats with a checksum nothing wrong is ever read.
TEST(DamagedFile, EachFlippedBitIsRefusedOrHarmless) {
  const HeldTraps held; // likewise
  for (const Sample& sample : samples()) {
    const std::string good = contents(sample.bytes);
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
      std::string bytes = sample.bytes;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      const std::string found = contents(bytes);
      refused += found.empty();
      if (sample.hasChecksum && !found.empty()) {
        ASSERT_EQ(good, found) << sample.name << ", bit " << bit;
      }
    }
    EXPECT_GT(refused, 2 * sample.bytes.size()) << sample.name;
  }
}

// Each run of 1, 2, 4 and 8 bytes becomes the largest, the largest signed, or the least number.
TEST(DamagedFile, ExtremeNumbersAnywhereDoNoHarm) {
  const HeldTraps held; // damaged numbers are too large for their type, or signal
  for (const Sample& sample : samples()) {
    const std::string good = contents(sample.bytes);
    for (const std::size_t count : {1, 2, 4, 8})
      for (const std::uint64_t value :
           {~std::uint64_t(0), ~std::uint64_t(0) >> 1, std::uint64_t(0)})
        for (std::size_t at = 0; at + count <= sample.bytes.size(); ++at) {
          std::string bytes = sample.bytes;
          bytes.replace(at, count, number(value >> (64 - 8 * count) % 64, static_cast<int>(count)));
          const std::string found = contents(bytes);
          if (sample.hasChecksum && !found.empty()) {
            ASSERT_EQ(good, found) << sample.name << " at " << at;
          }
        }
  }
}

// Two neighbouring bytes change places, a byte is missing, a byte is there twice.
TEST(DamagedFile, ShiftedBytesDoNoHarm) {
  for (const Sample& sample : samples())
    for (std::size_t at = 0; at + 1 < sample.bytes.size(); ++at) {
      std::string bytes = sample.bytes;
      std::swap(bytes[at], bytes[at + 1]);
      contents(bytes);
      contents(std::string(sample.bytes).erase(at, 1));
      contents(std::string(sample.bytes).insert(at, 1, sample.bytes[at]));
    }
}

void expectRefused(std::initializer_list<const char*> parts, const std::string& bytes) {
  expectError(TENON_ERR_FORMAT, parts, [&] {
    const WeightsFile file = openFile(bytes);
    for (const StoredTensor& tensor : file.tensors())
      allOf(file, tensor);
  });
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets,
                const std::string& data = kNumbers) {
  return safetensors(fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype,
                                 shape, offsets),
                     data);
}

TEST(DamagedSafetensors, IsRefusedWithTheReason) {
  expectRefused({"'some file'", "the header's length", "truncated"}, "");
  expectRefused({"header would have 18446744073709551615 bytes", "at most 16777216"},
                number(~std::uint64_t(0), 8) + "{}");
  expectRefused({"the header, 100 bytes at 8", "truncated"}, number(100, 8) + "{}");
  expectRefused({"does not begin with '{'"}, safetensors(" {}", ""));
  expectRefused({"byte 62", "key 'a' is given twice"},
                safetensors(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})", ""));
  expectRefused({"a.dtype", "'F33' is no type"}, one("F33", "[6]", "[0,24]"));
  expectRefused({"a.shape[0]", "integer >= 0"}, one("F32", "[-6]", "[0,24]"));
  expectRefused({"a.shape[1]", "is 3.5"}, one("F32", "[2,3.5]", "[0,24]"));
  expectRefused(
      {"a.shape", "33 dimensions; at most 32"},
      one("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6]", "[0,24]"));
  expectRefused({"a.data_offsets", "two numbers"}, one("F32", "[6]", "[0,24,48]"));
  expectRefused({"a.data_offsets[1]", "integer >= 24"}, one("F32", "[6]", "[24,0]"));
  expectRefused({"a.data_offsets[1]", "is 28, but only 24 bytes follow"},
                one("F32", "[7]", "[0,28]"));
  expectRefused({"'a'", "2 x 2 elements of type F32 do not have the 24 bytes"},
                one("F32", "[2,2]", "[0,24]"));
  expectRefused({"'a'", "4611686018427387904 x 4611686018427387904 elements"},
                one("F32", "[4611686018427387904,4611686018427387904]", "[0,0]"));
  expectRefused({"2 bytes after the last tensor"}, one("F32", "[6]", "[0,24]", kNumbers + "xy"));
  expectRefused({"'a'", "begins at byte", "leave a hole"}, one("F32", "[5]", "[4,24]"));
  expectRefused(
      {"'b'", "overlap"},
      safetensors(
          R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
          "xxxx"));
  expectRefused(
      {"a.strides", "unknown key"},
      safetensors(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"strides":[]}})", ""));
  expectRefused({"a: is 7; expected an object"}, safetensors(R"({"a":7})", ""));
  expectRefused({"__metadata__.k", "expected a text"},
                safetensors(R"({"__metadata__":{"k":[]}})", ""));
  expectRefused({"control characters"},
                safetensors(R"({"a\u0000b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", ""));
  expectRefused({"name has 0 bytes"},
                safetensors(R"({"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", ""));
  expectRefused({"'tenon.order'", "not those of its tensors"},
                safetensors(R"({"__metadata__":{"tenon.order":"a\na"},)"
                            R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                            ""));
  expectRefused({"more than 1048576 values"}, safetensors(
                                                  "{\"a\":[" +
                                                      [] {
                                                        std::string zeros;
                                                        for (int i = 0; i < 1 << 20; ++i)
                                                          zeros += "0,";
                                                        return zeros;
                                                      }() +
                                                      "0]}",
                                                  ""));
}

std::string withHeader(const std::string& text) {
  return zip({{"a.npy", npy(text, kNumbers)}});
}

TEST(DamagedNpz, IsRefusedWithTheReason) {
  expectRefused({"no directory at its end"}, "PK\3\4 and nothing of an archive any more");
  Member member{"a.npy", kArray};
  member.flags = 1;
  expectRefused({"'a.npy'", "encrypted"}, zip({member}));
  member = {"a.txt", kArray};
  expectRefused({"'a.txt'", "no array"}, zip({member}));
  expectRefused({"'a'", "given twice"}, zip({{"a.npy", kArray}, {"a.npy", kArray}}));
  member = {"a.npy", kArray, true};
  member.claimedBytes = 1 << 30;
  expectRefused({"'a.npy'", "1073741824 bytes cannot be stored in"}, zip({member}));
  member = {"a.npy", kArray};
  member.before = "hidden";
  expectRefused({"'a.npy'", "begins at byte 6", "leave a hole"},
                "PK\3\4" + zip({member}).substr(4));
  expectRefused({"'a.npy'", "no npy file"}, zip({{"a.npy", std::string(128, 'x')}}));
  expectRefused({"'a.npy'", "ends before"}, zip({{"a.npy", "\x93NUMPY"}}));
  expectRefused({"'a.npy'", "version 4.0"}, zip({{"a.npy", npy("{}", kNumbers, 4)}}));
  expectRefused({"'a.npy'", "lacks 'descr'"}, withHeader("{ }         \n"));
  expectRefused({"'a.npy'", "header is damaged"}, withHeader("{'descr': '<f4', 'descr': '<f4'}"));
  expectRefused({"'a.npy'", "structures"}, withHeader("{'descr': [('x', '<f4')]}"));
  expectRefused({"'a.npy'", "elements of type '>f4'", "'<f4'"}, withHeader("{'descr': '>f4'}"));
  expectRefused({"'a'", "2 x 2 elements of type F32 do not have the 24 bytes"},
                withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"));
  expectRefused(
      {"'a.npy'", "header is damaged"},
      withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"));
  // A number changed after it was packed.
  std::string bytes = zip({{"a.npy", kArray}});
  bytes[bytes.find(kNumbers) + 5] ^= 1;
  expectRefused({"'a.npy'", "checksum", "damaged"}, bytes);
}

// As numpy.savez(path, a=numbers, objects=numpy.array([os.system], dtype=object)) writes it: a
// pickle that would run a program is behind a good array.
TEST(DamagedNpz, PythonObjectsAreNeverUnpickled) {
  const std::string pickle = "\x80\4cposix\nsystem\n(S'exit 1'\ntR.";
  for (const char* type : {"|O", "O"}) {
    const std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (1,), }}", type);
    expectRefused({"'objects.npy'", type, "Python objects", "pickled"},
                  zip({{"a.npy", kArray}, {"objects.npy", npy(header, pickle)}}));
  }
}

TEST(DamagedNpz, MembersMayNotOverlap) {
  // The directory names the first member twice, under two names of equal length.
  std::string bytes = zip({{"a.npy", kArray}, {"b.npy", kArray}});
  const std::size_t directory = bytes.find("PK\1\2"), second = bytes.find("PK\1\2", directory + 4);
  bytes.replace(second + 42, 4, number(0, 4));
  expectRefused({"'b.npy'", "the name differs"}, bytes);
}

// Weights in other programs' formats are named, with what makes a file of them that can be read.
TEST(ForeignFile, IsNamedWithWhatToDo) {
  const std::string rest(100, '\0');
  const std::pair<std::string, std::vector<const char*>> files[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
       {"git lfs pull"}},
      {"<!DOCTYPE html><html><head>", {"web site", "download"}},
      {"\x89HDF\r\n\x1a\n" + rest, {"HDF5", "Keras", "numpy.savez"}},
      {std::string("CDF\x01", 4) + rest, {"NetCDF-3", "numpy.savez", "netCDF4"}},
      {std::string("CDF\x05", 4) + rest, {"NetCDF-3"}},
      {"\x80\x02" + rest, {"pickle", "safetensors.torch.save_file"}},
      {"\x1f\x8b" + rest, {"gunzip"}},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", rest), {"numpy.savez"}},
      {zip({{"archive/data.pkl", rest}, {"archive/data/0", rest}}),
       {"torch.save()", "safetensors.torch.save_file", "weights_only=True"}},
      {zip({{"net/models/model.json", "{}"}}), {"TenonLayerCreateFromModel"}},
      {zip({{"config.json", "{}"}, {"model.weights.h5", rest}}), {"Keras", "numpy.savez"}}};
  for (const auto& [bytes, words] : files)
    try {
      openFile(bytes);
      ADD_FAILURE() << "no error of " << words.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TENON_ERR_FORMAT);
      for (const char* word : words)
        EXPECT_NE(error.text().find(word), std::string::npos) << word << ": " << error.text();
    }
}

TEST(WeightsFile, NamesAFileThatCannotBeRead) {
  expectError(TENON_ERR_FILE, {"'/nowhere/x.npz'", "No such file"},
              [] { WeightsFile(openBytes("/nowhere/x.npz")); });
  expectError(TENON_ERR_FILE, {"'/tmp'", "not a regular file"},
              [] { WeightsFile(openBytes("/tmp")); });
}

} // namespace
} // namespace tenon
