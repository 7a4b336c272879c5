/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes images of the ten digits with the file names and in the format of MNIST, so that the
 * tutorial runs without external data. digits.c describes how a digit is drawn. */
#ifndef DIGITS_H
#define DIGITS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Draws `train` and `test` images of 28 x 28 grey values and their labels into `folder` (created if
 * its parent exists): train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
 * t10k-labels-idx1-ubyte. The classes are balanced and shuffled; the same seed gives the same
 * files. Each is written as a whole, in the order above. To be called on one process while the
 * others wait. Returns 0, or 1 after a failure, which DigitsMessage() then describes. */
int DigitsWrite(const char* folder, int train, int test, unsigned long long seed);

/* The error of the last DigitsWrite(); "" if it succeeded. */
const char* DigitsMessage(void);

/* Draws image number `index` of the random stream `seed`; `digit` is 0 to 9. */
void DigitsDraw(int digit, unsigned long long seed, unsigned long long index,
                unsigned char pixels[28 * 28]);

#ifdef __cplusplus
}
#endif

#endif
