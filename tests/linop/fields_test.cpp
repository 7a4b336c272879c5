// SPDX-License-Identifier: BSD-2-Clause
// Tests applyMany(), one action of several fields: each operator gives the bits of one application
// for each field, in both directions, on raw numbers with zeros of both signs; operators that are
// one exchange send the messages of one field with the bytes of all; arrays can be strided, large,
// in shared memory or not, and in place; what cannot be applied together is refused.
#include "linop/exchange/conversion.hpp"
#include "operators.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <deque>

namespace tenon {
namespace {

using test::elementsIn;
using test::Ends;
using test::world;

// Tensors for several fields in one direction of an operator, with different numbers.
struct Fields {
  Fields(const LinearOp& op, Sense sense, int count, std::uint64_t seed) {
    for (int i = 0; i < count; ++i) {
      const Ends& one = ends.emplace_back(op, sense, seed + 10 * i);
      fillRaw(*one.x, seed + 10 * i, /*integers=*/isInteger(op.domainType()));
      std::vector<double> values = test::elementsOf(*one.x);
      for (std::size_t n = 0; n < values.size(); n += 3)
        values[n] = n % 2 == 0 ? -0.0 : 0.0;
      test::setCells(*one.x, values);
    }
    for (const Ends& one : ends) {
      x.push_back(one.x.get());
      y.push_back(one.y.get());
    }
  }
  std::deque<Ends> ends;
  std::vector<const DTensor*> x;
  std::vector<DTensor*> y;
};

void expectSameBits(const DTensor& y, const DTensor& want, const std::string& what) {
  const std::vector<double> got = elementsIn(y), expected = elementsIn(want);
  ASSERT_EQ(got.size(), expected.size());
  if (!got.empty()) {
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0) << what;
  }
}

// Compares with one application for each field on other tensors.
void expectAsOneByOne(LinearOp& op, Sense sense, const Fields& fields, std::uint64_t seed) {
  const Fields want(op, sense, static_cast<int>(fields.x.size()), seed);
  op.applyMany(sense, fields.x, fields.y);
  for (std::size_t i = 0; i < fields.x.size(); ++i) {
    copyLocal(*fields.x[i], *want.ends[i].x);
    test::act(op, sense, 1, *want.x[i], 0, *want.y[i]);
    ASSERT_NO_FATAL_FAILURE(
        expectSameBits(*fields.y[i], *want.y[i], fmt::format("field {} of {}", i, op.describe())));
  }
}

Traffic sentIn(const std::function<void()>& work) {
  logEnable(true);
  logReset();
  work();
  logEnable(false);
  Traffic sent;
  for (const EventRecord& record : logSnapshot())
    sent += {record.messages, record.bytes};
  return sent;
}

class SeveralFields : public testing::TestWithParam<test::NamedOp> {};

TEST_P(SeveralFields, HaveTheBitsOfOneCallEach) {
  for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
    const LinearOpRef op = GetParam().make(type);
    for (Sense sense : {Sense::Forward, Sense::Adjoint})
      for (int count : {1, 2, 5}) {
        const Fields fields(*op, sense, count, 7), others(*op, sense, count, 8);
        // The same tensors again, and others in between.
        for (const Fields* used : {&fields, &fields, &others, &fields})
          ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(*op, sense, *used, 7));
      }
  }
}

TEST_P(SeveralFields, ShareTheMessagesOfAnExchange) {
  const LinearOpRef op = GetParam().make(TENON_FLOAT64);
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const Fields fields(*op, sense, 4, 7);
    op->applyMany(sense, fields.x, fields.y);
    const Traffic one = sentIn([&] { test::act(*op, sense, 1, *fields.x[0], 0, *fields.y[0]); });
    const Traffic all = sentIn([&] { op->applyMany(sense, fields.x, fields.y); });
    EXPECT_EQ(all.messages, (op->takesFields() ? 1 : 4) * one.messages) << op->describe();
    EXPECT_EQ(all.elements, 4 * one.elements) << op->describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Linop, SeveralFields, testing::ValuesIn(test::allOperators()),
                         test::nameOfParameter);

class FieldsBy : public testing::TestWithParam<Transport> {};

// Parts of several chunks, parts that are read in place, and both kinds of sums.
TEST_P(FieldsBy, CanBeLarge) {
  const Index ranks = world()->size();
  for (const auto& [from, to] : {std::pair("S0", "S1"), {"S0", "B"}, {"P", "B"}, {"P", "S1"}}) {
    const Shape shape = {10 * ranks + 1, 4001};
    Conversion op(world(), test::onLine(shape, from), test::onLine(shape, to), TENON_FLOAT64,
                  test::by(GetParam()));
    for (Sense sense : {Sense::Forward, Sense::Adjoint})
      for (int isPrivate = 0; isPrivate < 4; ++isPrivate) {
        // All arrays in the arena, or those of some fields elsewhere.
        const Fields fields(op, sense, 3, 5);
        for (int i = 0; i < isPrivate; ++i)
          fields.ends[i].x->setPrivate(true);
        ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(op, sense, fields, 5));
      }
  }
}

TEST_P(FieldsBy, CanHaveAnyStrides) {
  const Index ranks = world()->size();
  const Layout from = test::onLine({3 * ranks, 5}, "S0");
  Conversion op(world(), from, test::withHalo(from, 2, Boundary::Periodic), TENON_FLOAT64,
                test::by(GetParam()));
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const Fields fields(op, sense, 3, 5);
    std::deque<std::vector<double>> arrays;
    const auto place = [&](DTensor& tensor, Index row, Index column) {
      const Index width = tensor.extent()[0] > 3 ? 2 : 0; // of the halo
      auto& array = arrays.emplace_back(200, -1);
      tensor.placeArray(array.data() + width * row, {row, column}, {width, 0}, {width, 0},
                        /*readOnly=*/false);
    };
    // Field 0 in rows of the library, 1 in columns, 2 in every third element of rows. Rows and
    // columns are so far apart that 3 rows of 5 elements, and 2 more rows on both sides, do not
    // overlap.
    place(*fields.ends[1].x, 1, 9);
    place(*fields.ends[1].y, 1, 8);
    place(*fields.ends[2].x, 21, 3);
    place(*fields.ends[2].y, 18, 3);
    for (int i : {1, 2})
      fillRaw(*fields.ends[i].x, 30 + i, /*integers=*/false);
    ASSERT_NO_FATAL_FAILURE(expectAsOneByOne(op, sense, fields, 5));
  }
}

// Ghosted arrays of the user, each of which is the input and the output of its field.
class GhostedArrays {
public:
  GhostedArrays(const LinearOp& op, Sense sense, int count) : fields_(op, sense, count, 1) {
    for (int i = 0; i < count; ++i) {
      std::vector<double>& array = arrays_.emplace_back((kRows + 4) * 4);
      for (std::size_t n = 0; n < array.size(); ++n)
        array[n] = std::sin(static_cast<double>(n + 100 * i + 1000 * world()->rank()));
      for (DTensor* tensor : {fields_.ends[i].x.get(), fields_.ends[i].y.get()})
        tensor->placeArray(array.data() + 2 * 4, {4, 1}, {2, 0}, {2, 0}, /*readOnly=*/false);
    }
  }
  const Fields& fields() const { return fields_; }
  bool operator==(const GhostedArrays& other) const { return arrays_ == other.arrays_; }
  static constexpr Index kRows = 3;

private:
  Fields fields_;
  std::deque<std::vector<double>> arrays_;
};

// That one field in place is right is tested in in_place_test.cpp.
TEST_P(FieldsBy, CanBeInPlace) {
  const Layout plain = test::onLine({GhostedArrays::kRows * world()->size(), 4}, "S0");
  for (const Boundary mode : {Boundary::Periodic, Boundary::Reflect, Boundary::Values}) {
    Conversion op(world(), plain, test::withHalo(plain, 2, mode), TENON_FLOAT64,
                  test::by(GetParam()));
    for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const GhostedArrays together(op, sense, 3), single(op, sense, 3);
      op.applyMany(sense, together.fields().x, together.fields().y);
      for (int i = 0; i < 3; ++i)
        test::act(op, sense, 1, *single.fields().x[i], 0, *single.fields().y[i]);
      EXPECT_EQ(together, single) << op.describe();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Linop, FieldsBy, testing::Values(Transport::Messages, Transport::Auto),
                         [](const auto& info) { return transportName(info.param); });

TEST(FieldsTogether, RefuseWhatCannotBeOneAction) {
  const LinearOpRef op =
      test::conversion(test::onLine({7, 5}, "P"), test::onLine({7, 5}, "B"), TENON_FLOAT64);
  const Fields fields(*op, Sense::Forward, 3, 1);
  const auto apply = [&](std::vector<const DTensor*> x, std::vector<DTensor*> y) {
    return [&op, x = std::move(x), y = std::move(y)] { op->applyMany(Sense::Forward, x, y); };
  };
  const auto& x = fields.x;
  const auto& y = fields.y;
  expectError(TENON_ERR_ARG, {"at least one"}, apply({}, {}));
  expectError(TENON_ERR_ARG, {"2 inputs and 3 outputs"}, apply({x[0], x[1]}, y));
  expectError(TENON_ERR_ARG, {"output of field 0", "output of field 2"},
              apply(x, {y[0], y[1], y[0]}));
  // P and B are not the same, but a tensor with the right layout can be of another field.
  const LinearOpRef same = makeRef<Cast>(world(), op->range(), TENON_FLOAT64, TENON_FLOAT64);
  expectError(TENON_ERR_ARG, {"output of field 0", "input of field 1"}, [&] {
    same->applyMany(Sense::Forward, std::vector<const DTensor*>{y[0], y[1]},
                    std::vector<DTensor*>{y[1], y[2]});
  });
  const auto other = makeRef<DTensor>(world(), test::onLine({8, 5}, "B"), TENON_FLOAT64);
  expectError(TENON_ERR_SHAPE, {"field 1", "output"}, apply(x, {y[0], other.get(), y[2]}));
  const auto single = makeRef<DTensor>(world(), op->domain(), TENON_FLOAT32);
  expectError(TENON_ERR_DATATYPE, {"field 2", "input"}, apply({x[0], x[1], single.get()}, y));
  fields.ends[1].y->lendForReading();
  expectError(TENON_ERR_STATE, {"field 1", "in use for reading"}, apply(x, y));
  fields.ends[1].y->endReading(arrayOf(*y[1]));
  expectError(TENON_ERR_ARG, {"field 0", "the same tensor"}, [&] {
    same->applyMany(Sense::Forward, std::vector<const DTensor*>{y[0]}, std::vector<DTensor*>{y[0]});
  });
  op->applyMany(Sense::Forward, x, y);
}

// One input for several fields is no conflict.
TEST(FieldsTogether, CanShareAnInput) {
  const LinearOpRef op =
      test::conversion(test::onLine({7, 5}, "P"), test::onLine({7, 5}, "B"), TENON_FLOAT64);
  const Fields fields(*op, Sense::Forward, 2, 1);
  op->applyMany(Sense::Forward, std::vector<const DTensor*>{fields.x[0], fields.x[0]}, fields.y);
  expectSameBits(*fields.y[0], *fields.y[1], op->describe());
}

TEST(FieldsTogether, OfUnequalNumbersFailAlikeOnAllRanks) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const LinearOpRef op =
      test::conversion(test::onLine({7, 5}, "S0"), test::onLine({7, 5}, "S1"), TENON_FLOAT64);
  const Fields fields(*op, Sense::Forward, world()->rank() == 0 ? 2 : 3, 1);
  expectError(TENON_ERR_COLLECTIVE, {"the number of fields", "rank 0 it is 2", "rank 1 it is 3"},
              [&] { op->applyMany(Sense::Forward, fields.x, fields.y); });
}

TEST(FieldsTogether, CanBeInPlaceInSomeFields) {
  const Layout plain = test::onLine({GhostedArrays::kRows * world()->size(), 4}, "S0");
  const LinearOpRef op =
      test::conversion(plain, test::withHalo(plain, 2, Boundary::Periodic), TENON_FLOAT64);
  for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const GhostedArrays together(*op, sense, 1), single(*op, sense, 1);
    const Fields apart(*op, sense, 1, 1), want(*op, sense, 1, 1);
    const Fields &inPlace = together.fields(), &alone = single.fields();
    op->applyMany(sense, std::vector<const DTensor*>{apart.x[0], inPlace.x[0]},
                  std::vector<DTensor*>{apart.y[0], inPlace.y[0]});
    test::act(*op, sense, 1, *alone.x[0], 0, *alone.y[0]);
    test::act(*op, sense, 1, *want.x[0], 0, *want.y[0]);
    EXPECT_EQ(together, single);
    expectSameBits(*apart.y[0], *want.y[0], op->describe());
  }
}

} // namespace
} // namespace tenon
