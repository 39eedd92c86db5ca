process.stdout.write('0 passed, 0 failed\n');
