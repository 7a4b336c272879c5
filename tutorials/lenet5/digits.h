/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a set of ten hand-drawn digits in the file names and format of MNIST, so that the tutorial
 * runs without any data from outside. See digits.c for how a digit is drawn. */
#ifndef DIGITS_H
#define DIGITS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Draws `train` and `test` images of 28 x 28 grey values and their labels into `folder` (made if
 * its parent exists): train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
 * t10k-labels-idx1-ubyte. The classes are balanced and shuffled; the same seed gives the same
 * files. The four files are written under temporary names and renamed when all are complete, so a
 * file of the right name is a whole file. One process calls this; the others wait for it. Returns
 * 0, or 1 after a failure, which DigitsMessage() then describes (file and reason). */
int DigitsWrite(const char* folder, int train, int test, unsigned long long seed);

/* What went wrong in the last DigitsWrite(); "" if nothing did. */
const char* DigitsMessage(void);

/* Draws one image of `digit` (0 to 9): the one at position `index` of the stream `seed`. */
void DigitsDraw(int digit, unsigned long long seed, unsigned long long index,
                unsigned char pixels[28 * 28]);

#ifdef __cplusplus
}
#endif

#endif
