// SPDX-License-Identifier: BSD-2-Clause
// Reads damaged weights files. Five sample files (safetensors, and npz in four variants of the zip
// format) are truncated at each byte, have each bit flipped, extreme integers written over each
// position, and bytes swapped, erased or doubled. Each damaged file must be refused with
// TENON_ERR_FORMAT and the file's name, or be read; an npz file has checksums, so if it is read at
// all it must give exactly what the undamaged file gives. Reads out of bounds are found when these
// tests run with the sanitizers.
//
// Then files with one contradiction each, which must be refused with the reason; and files of other
// programs, whose error says how to convert them.
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

// An undamaged file.
struct Sample {
  const char* name;
  std::string bytes;
  bool hasChecksum; // each member of an npz file has a CRC-32
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
      {"npz, deflated",
       zip({{.name = "a.npy", .bytes = kArray, .isDeflated = true},
            {.name = "b.npy", .bytes = kArray, .isDeflated = true}},
           "a comment"),
       true},
      {"npz, zip64",
       zip({{.name = "a.npy", .bytes = kArray, .isZip64 = true},
            {.name = "b.npy", .bytes = kArray, .isDeflated = true, .isZip64 = true}},
           "", /*endIsZip64=*/true),
       true},
      {"npz, descriptors",
       zip({{.name = "a.npy", .bytes = kArray, .isDeflated = true, .hasDescriptor = true},
            {.name = "b.npy", .bytes = kArray}}),
       true},
  };
}

// What the library reads from a file: the list of its tensors, then the bytes of their values; ""
// if it refuses the file.
std::string contents(const std::string& bytes) {
  try {
    const WeightsFile file = openFile(bytes);
    std::string text = file.describe();
    for (const StoredTensor& tensor : file.tensors())
      if (isReal(tensor.type))
        text += rawBytes(readAll(file, tensor));
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
    EXPECT_EQ("", contents(sample.bytes + '\0')) << sample.name << " and one byte more";
  }
}

// A file with checksums must never give wrong values. Without checksums, a flipped bit of a value
// or a name gives another valid file, so not every flip can be refused. But on average at least two
// of the eight flips of a byte must be: a loose bound, which fails if the reader checks nothing.
TEST(DamagedFile, EachFlippedBitIsRefusedOrHarmless) {
  const NoTraps noTraps; // damaged values may overflow, or be NaN, in a conversion
  for (const Sample& sample : samples()) {
    const std::string undamaged = contents(sample.bytes);
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
      std::string bytes = sample.bytes;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      const std::string found = contents(bytes);
      refused += found.empty();
      if (sample.hasChecksum && !found.empty()) {
        ASSERT_EQ(undamaged, found) << sample.name << ", bit " << bit;
      }
    }
    EXPECT_GT(refused, 2 * sample.bytes.size()) << sample.name;
  }
}

// Overwrites each 1, 2, 4 and 8 consecutive bytes with the largest unsigned integer, the largest
// signed one, and 0. These are sizes, offsets and extents at some of the positions.
TEST(DamagedFile, ExtremeNumbersAnywhereDoNoHarm) {
  const NoTraps noTraps; // damaged values may overflow, or be NaN, in a conversion
  for (const Sample& sample : samples()) {
    const std::string undamaged = contents(sample.bytes);
    for (const std::size_t count : {1, 2, 4, 8})
      for (const std::uint64_t value :
           {~std::uint64_t(0), ~std::uint64_t(0) >> 1, std::uint64_t(0)})
        for (std::size_t at = 0; at + count <= sample.bytes.size(); ++at) {
          std::string bytes = sample.bytes;
          bytes.replace(at, count, number(value >> (64 - 8 * count), static_cast<int>(count)));
          const std::string found = contents(bytes);
          if (sample.hasChecksum && !found.empty()) {
            ASSERT_EQ(undamaged, found) << sample.name << " at " << at;
          }
        }
  }
}

// Swaps two neighbouring bytes, erases a byte, doubles a byte. contents() expects that a refusal is
// TENON_ERR_FORMAT; whether the file is refused does not matter.
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
      readAll(file, tensor);
  });
}

// A safetensors file with one tensor "a", whose header has the given values.
std::string withTensor(const std::string& dtype, const std::string& shape,
                       const std::string& offsets, const std::string& data = kNumbers) {
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
  expectRefused({"a.dtype", "'F33' is no type"}, withTensor("F33", "[6]", "[0,24]"));
  expectRefused({"a.shape[0]", "integer >= 0"}, withTensor("F32", "[-6]", "[0,24]"));
  expectRefused({"a.shape[1]", "is 3.5"}, withTensor("F32", "[2,3.5]", "[0,24]"));
  expectRefused({"a.shape", "33 dimensions; at most 32"},
                withTensor("F32",
                           "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6]",
                           "[0,24]"));
  expectRefused({"a.data_offsets", "two numbers"}, withTensor("F32", "[6]", "[0,24,48]"));
  expectRefused({"a.data_offsets[1]", "integer >= 24"}, withTensor("F32", "[6]", "[24,0]"));
  expectRefused({"a.data_offsets[1]", "is 28, but only 24 bytes follow"},
                withTensor("F32", "[7]", "[0,28]"));
  expectRefused({"'a'", "2 x 2 elements of type F32 do not have the 24 bytes"},
                withTensor("F32", "[2,2]", "[0,24]"));
  expectRefused({"'a'", "4611686018427387904 x 4611686018427387904 elements"},
                withTensor("F32", "[4611686018427387904,4611686018427387904]", "[0,0]"));
  expectRefused({"2 bytes after the last tensor"},
                withTensor("F32", "[6]", "[0,24]", kNumbers + "xy"));
  expectRefused({"'a'", "begins at byte", "leave a hole"}, withTensor("F32", "[5]", "[4,24]"));
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

// An npz file with one array, whose npy header is `text`.
std::string withHeader(const std::string& text) {
  return zip({{"a.npy", npy(text, kNumbers)}});
}

TEST(DamagedNpz, IsRefusedWithTheReason) {
  expectRefused({"no directory at its end"}, "PK\3\4 and nothing of an archive any more");
  Member member{"a.npy", kArray};
  member.flags = 1; // bit 0 of a zip member's flags: encrypted
  expectRefused({"'a.npy'", "encrypted"}, zip({member}));
  member = {"a.txt", kArray};
  expectRefused({"'a.txt'", "no array"}, zip({member}));
  expectRefused({"'a'", "given twice"}, zip({{"a.npy", kArray}, {"a.npy", kArray}}));
  member = {.name = "a.npy", .bytes = kArray, .isDeflated = true};
  member.claimedBytes = 1 << 30;
  expectRefused({"'a.npy'", "1073741824 bytes cannot be stored in"}, zip({member}));
  member = {"a.npy", kArray};
  member.before = "hidden"; // the first 4 of its 6 bytes become the signature of a zip file
  expectRefused({"'a.npy'", "begins at byte 6", "leave a hole"},
                "PK\3\4" + zip({member}).substr(4));
  expectRefused({"'a.npy'", "no npy file"}, zip({{"a.npy", std::string(128, 'x')}}));
  expectRefused({"'a.npy'", "ends before"}, zip({{"a.npy", "\x93NUMPY"}}));
  expectRefused({"'a.npy'", "version 4.0"}, zip({{"a.npy", npy("{}", kNumbers, /*version=*/4)}}));
  expectRefused({"'a.npy'", "lacks 'descr'"}, withHeader("{ }         \n"));
  expectRefused({"'a.npy'", "header is damaged"}, withHeader("{'descr': '<f4', 'descr': '<f4'}"));
  expectRefused({"'a.npy'", "structures"}, withHeader("{'descr': [('x', '<f4')]}"));
  expectRefused({"'a.npy'", "elements of type '>f4'", "'<f4'"}, withHeader("{'descr': '>f4'}"));
  expectRefused({"'a'", "2 x 2 elements of type F32 do not have the 24 bytes"},
                withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"));
  expectRefused(
      {"'a.npy'", "header is damaged"},
      withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"));
  // One bit of the array is changed, but the checksum is not.
  std::string bytes = zip({{"a.npy", kArray}});
  bytes[bytes.find(kNumbers) + 5] ^= 1;
  expectRefused({"'a.npy'", "checksum", "damaged"}, bytes);
}

// numpy.savez(path, a=numbers, objects=numpy.array([os.system], dtype=object)) writes such a file:
// after a valid array, one of Python objects, whose pickle would run a program if it were loaded.
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
  // The directory's second entry, for b.npy, gets the offset of the first member, a.npy.
  constexpr std::size_t kHeaderOffset = 42; // in a directory entry: the offset of the local header
  std::string bytes = zip({{"a.npy", kArray}, {"b.npy", kArray}});
  const std::size_t directory = bytes.find("PK\1\2"), second = bytes.find("PK\1\2", directory + 4);
  bytes.replace(second + kHeaderOffset, 4, number(0, 4));
  expectRefused({"'b.npy'", "the name differs"}, bytes);
}

// Each pair: the beginning of a file of another program, and words of the error, which names the
// format and says how to convert the file.
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
